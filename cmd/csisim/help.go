package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/csisim/csisim/internal/world/excerpt"
)

// helpWidth is the number of columns of help texts.
const helpWidth = 80

// commandGroups are the groups of commands by purpose, in the order of the help.
var commandGroups = []struct {
	title string
	names []string
}{
	{"Check a driver", []string{"check", "explore", "replay", "load", "profiles"}},
	{"Run scenarios", []string{"run", "init", "validate", "steps", "schema"}},
	{"Look at traces", []string{"view", "diff", "explain", "import"}},
	{"Live cluster", []string{"up", "get", "down"}},
	{"Real clusters", []string{"compare", "manifests", "testdriver"}},
}

// flagGroups are the groups of flags, in the order of the help. A flag means the same in each
// command that has it.
var flagGroups = []struct {
	title string
	names []string
}{
	{"Driver", []string{
		"endpoint", "controller-endpoint", "addons-endpoint", "profile", "binary", "save", "name", "single", "node-only", "env", "plugin-socket", "capability",
		"node-path", "start-timeout", "memory", "deploy",
	}},
	{"Upgrade", []string{"upgrade-from", "upgrade-from-profile", "upgrade-from-binary", "upgrade-from-deploy"}},
	{"Volumes", []string{
		"parameter", "snapshot-parameter", "mount-option", "access-mode", "no-block", "fs-type", "volume-size", "secrets", "handle", "attribute", "lifecycle",
		"pod-info", "fs-group-policy", "token-request", "extra-create-metadata",
	}},
	{"Real cluster", []string{"on", "allow-context", "node-image", "sidecar-image", "plan"}},
	{"Output", []string{"print", "out", "junit", "json", "summary", "report", "trace", "write-known", "verbose", "keep", "system-calls", "help"}},
	{"Isolation", []string{"isolation", "rootless", "network", "work-dir", "host-path"}},
}

// fewFlags is the greatest number of flags that are not grouped.
const fewFlags = 9

// writeHelp writes the help of a command: purpose, examples, usage, commands and flags by group.
func writeHelp(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "%s\n", reflowed(cmp.Or(c.Long, c.Short+".")))
	if c.Example != "" {
		fmt.Fprint(w, "\nExamples:\n")
		for line := range strings.SplitSeq(strings.TrimRight(c.Example, "\n"), "\n") {
			fmt.Fprintln(w, continued(line))
		}
	}
	fmt.Fprintf(w, "\nUsage:\n  %s\n", c.UseLine())
	writeCommands(w, c)
	writeFlags(w, c)
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nRun '%s COMMAND --help' for the flags of a command.\n", c.CommandPath())
	}
}

// reflowed wraps the paragraphs of a text, and keeps indented lines.
func reflowed(text string) string {
	var all []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if !strings.Contains("\n"+paragraph, "\n ") {
			paragraph = excerpt.Wrap(strings.ReplaceAll(paragraph, "\n", " "), helpWidth)
		}
		all = append(all, paragraph)
	}
	return strings.Join(all, "\n\n")
}

// continued breaks a command before its options, in the syntax of a shell. Rows fit into the width
// if possible. Rows after the first are indented.
func continued(command string) string {
	const end, indent = ` \`, "    "
	var rows []string
	row := ""
	for _, part := range beforeOptions(command) {
		if row != "" && utf8.RuneCountInString(row+part+end) > helpWidth {
			rows, row = append(rows, row+end), indent+strings.TrimSpace(part)
			continue
		}
		row += part
	}
	return strings.Join(append(rows, row), "\n")
}

// beforeOptions cuts a command before each option that is not within quotes.
func beforeOptions(command string) (parts []string) {
	from, quoted := 0, false
	for i, r := range command {
		if r == '\'' {
			quoted = !quoted
		}
		if !quoted && i > from && strings.HasPrefix(command[i:], " -") {
			parts, from = append(parts, command[from:i]), i
		}
	}
	return append(parts, command[from:])
}

func writeCommands(w io.Writer, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	isShown := map[string]bool{}
	write := func(title string, commands []*cobra.Command) {
		if len(commands) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s:\n", title)
		for _, sub := range commands {
			isShown[sub.Name()] = true
			writeTerm(w, "  "+sub.Name(), sub.Short, 14)
		}
	}
	for _, group := range commandGroups {
		var commands []*cobra.Command
		for _, name := range group.names {
			if i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name && sub.IsAvailableCommand() }); i >= 0 {
				commands = append(commands, c.Commands()[i])
			}
		}
		write(group.title, commands)
	}
	var others []*cobra.Command
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !isShown[sub.Name()] {
			others = append(others, sub)
		}
	}
	write("Other commands", others)
}

func writeFlags(w io.Writer, c *cobra.Command) {
	var all []*pflag.Flag
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f)
		}
	})
	if len(all) <= fewFlags {
		writeGroup(w, "Flags", all)
		return
	}
	groups := map[string][]*pflag.Flag{}
	for _, f := range all {
		title := "Runs"
		for _, group := range flagGroups {
			if slices.Contains(group.names, f.Name) {
				title = group.title
			}
		}
		groups[title] = append(groups[title], f)
	}
	for _, title := range []string{"Driver", "Upgrade", "Volumes", "Runs", "Real cluster", "Output", "Isolation"} {
		writeGroup(w, title, groups[title])
	}
}

func writeGroup(w io.Writer, title string, flags []*pflag.Flag) {
	if len(flags) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for _, f := range flags {
		kind, text := pflag.UnquoteUsage(f)
		term := "      --" + f.Name
		if f.Shorthand != "" {
			term = "  -" + f.Shorthand + ", --" + f.Name
		}
		if f.NoOptDefVal != "" && kind != "" {
			term, kind = term+"[="+kind+"]", ""
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) && !strings.Contains(text, "(default") {
			text += fmt.Sprintf(" (default %s)", strings.ReplaceAll(strings.Trim(f.DefValue, "[]"), ",", ", "))
		}
		writeTerm(w, strings.TrimRight(term+" "+kind, " "), text, 32)
	}
}

// writeTerm writes a term, and its description in a separate column.
func writeTerm(w io.Writer, term, text string, column int) {
	margin := strings.Repeat(" ", column)
	text = strings.ReplaceAll(excerpt.Wrap(text, helpWidth-column), "\n", "\n"+margin)
	if len(term)+2 > column {
		fmt.Fprintf(w, "%s\n%s%s\n", term, margin, text)
		return
	}
	fmt.Fprintf(w, "%-*s%s\n", column, term, text)
}

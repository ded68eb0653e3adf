package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/incident/explain"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/view"
)

func newExplain(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "explain TRACE",
		Short: "Find the volumes that are stuck in a trace, and the component that holds them",
		Long: `Read a trace that csisim import has written and print each volume that is stuck or
wrong: the component that holds it, which waits for which and since when, the cause,
and the lines that show it. A finding is certain if a line states it, likely if it
follows from lines, and unknown if the logs do not show it. The end lists the logs to
collect next, with the commands.

Exit codes: 0 nothing is stuck, 1 something is, 2 bad input.`,
		Example: `  csisim import must-gather.tar.gz -o incident.jsonl
  csisim explain incident.jsonl`,
		Args: func(command *cobra.Command, args []string) error {
			if err := needs("a TRACE")(command, args); err != nil {
				return err
			}
			return atMost(1)(command, args)
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE:              func(_ *cobra.Command, args []string) error { return explainTrace(env, args[0]) },
	}
}

func explainTrace(env environment, name string) error {
	file, err := strict.OpenFile(name, largestView, "a trace")
	if err != nil {
		return usage("%s: %w", name, errors.Unwrap(err))
	}
	defer file.Close()
	story, err := explain.Read(file)
	if err != nil {
		return usage("%s: %w", name, reason(err))
	}
	report := story.Explain()
	if err := report.Text(env.stdout); err != nil {
		return fmt.Errorf("print the findings: %w", err)
	}
	if len(report.Findings) > 0 {
		return reported(exitFailed)
	}
	return nil
}

// addDiagnosis adds the findings in an imported trace to its page. Other traces have none.
func addDiagnosis(r *view.Report, name string) {
	file, err := strict.OpenFile(name, largestView, "a trace")
	if err != nil {
		return // the page names the problem
	}
	defer file.Close()
	from := bufio.NewReaderSize(file, 1<<16)
	if head, _ := from.Peek(1 << 12); !isImported(head) {
		return
	}
	story, err := explain.Read(from)
	if err != nil {
		return // the page names the unreadable line
	}
	report := story.Explain()
	for i := range report.Findings {
		r.Findings = append(r.Findings, shownFinding(&report.Findings[i]))
	}
	r.Sentence = report.Summary()
}

// isImported reports whether the first line of a trace has a real time.
func isImported(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.Contains(line, []byte(`,"at":"20`))
}

// shownFinding returns a finding in the form of the page.
func shownFinding(f *explain.Finding) view.Finding {
	hints := slices.DeleteFunc(slices.Concat([]string{f.Advice}, f.Rules, f.Hazards, f.Releases), func(hint string) bool { return hint == "" })
	shown := view.Finding{
		Verdict: f.Title, Short: f.Title, Got: f.Cause, Hint: strings.Join(hints, "; "), Where: strings.Join(f.Chain, "; "),
		Blame: fmt.Sprintf("%s (%s)", f.Component, f.Certainty),
	}
	if len(f.Seen) > 0 {
		shown.About = f.Seen[len(f.Seen)-1].Seq
	}
	return shown
}

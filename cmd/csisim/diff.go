package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

func newDiff(env environment) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two traces and show their differences",
		Long: `Compare two traces, level by level: calls, requests, objects, gaps, events, files
and requests to the container runtime. Values that differ in every run (uids,
generated names, times) are replaced by their roles. Accepted differences are listed
and counted.

Exit codes: 0 the traces are equal, 1 they differ, 2 bad input.`,
		Example: `  csisim run scenarios/rwo-filesystem.yaml --trace mine.jsonl
  csisim diff recorded.jsonl mine.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return usage("two traces are needed, A and B")
			case len(args) > 2:
				return usage("unexpected argument %s", args[2])
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error { return compare(env, args[0], args[1], all) },
	}
	command.Flags().BoolVar(&all, "all", false, "show every difference with the events around it")
	return command
}

// compare prints the differences between two traces.
func compare(env environment, nameA, nameB string, all bool) error {
	a, err := openTrace(nameA)
	if err != nil {
		return err
	}
	b, err := openTrace(nameB)
	if err != nil {
		return err
	}
	terminal := report.TerminalOf(env.stdout, env.getenv)
	found := diff.Compare(a, b)
	err = found.Text(env.stdout, diff.TextOptions{
		A: described(nameA, a), B: described(nameB, b), Color: terminal.Color, Width: terminal.Width, All: all,
	})
	if err != nil {
		return err
	}
	if !found.Equal() {
		return reported(exitFailed)
	}
	return nil
}

// maxTrace is the size in bytes of the largest trace that is compared.
const maxTrace = 1 << 30

func openTrace(name string) ([]trace.Line, error) {
	file, err := strict.OpenFile(name, maxTrace, "a trace")
	if err != nil {
		return nil, usage("%s: %w", name, errors.Unwrap(err))
	}
	defer file.Close()
	lines, err := trace.Read(file)
	if err != nil {
		return nil, usage("%s: %w", name, reason(err))
	}
	for i, line := range lines {
		if line.K == "" {
			return nil, usage("%s: line %d is not a line of a trace: it has no kind (field k)", name, i+1)
		}
	}
	if len(lines) == 0 {
		return nil, usage("%s: there is nothing in this trace", name)
	}
	return lines, nil
}

func described(name string, lines []trace.Line) string {
	last := time.Duration(lines[len(lines)-1].T) * time.Millisecond
	return fmt.Sprintf("%s, %s, %s", name, plural.Of(len(lines), "line"), trace.Span(last))
}

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/incident/explain"
	"github.com/csisim/csisim/internal/input/strict"
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

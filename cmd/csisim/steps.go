package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

func newSteps(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "steps [NAME]",
		Short: "List the steps of scenarios, or describe one",
		Example: `  csisim steps
  csisim steps wait`,
		Args: atMost(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var words []string
			for _, step := range scenario.Steps() {
				if len(args) == 0 {
					words = append(words, step.Name+"\t"+step.Summary)
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSteps(env)
			}
			return explainStep(env, args[0])
		},
	}
}

func listSteps(env environment) error {
	table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	for _, step := range scenario.Steps() {
		fmt.Fprintf(table, "%s\t%s\n", step.Name, step.Summary)
	}
	return table.Flush()
}

func explainStep(env environment, name string) error {
	var known []string
	for _, step := range scenario.Steps() {
		if step.Name == name {
			return writeStep(env.stdout, step)
		}
		known = append(known, step.Name)
	}
	return &failure{
		code: exitInput, err: unknown("step", name, known), hint: "Run 'csisim steps' for their descriptions.",
	}
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/world/plural"
)

func newValidate(env environment) *cobra.Command {
	return &cobra.Command{
		Use:               "validate FILE...",
		Short:             "Report all mistakes in scenarios without running them",
		Example:           "  csisim validate scenarios",
		Args:              needs("a scenario FILE"),
		ValidArgsFunction: completeScenarios,
		RunE: func(command *cobra.Command, args []string) error {
			defer interruptible(command.Context())()
			files, err := scenarioFiles(args)
			if err != nil {
				return err
			}
			scenarios, err := loadScenarios(env, files)
			if err != nil {
				return err
			}
			fmt.Fprintf(env.stdout, "%s, no mistakes\n", plural.Of(len(scenarios), "scenario"))
			return nil
		},
	}
}

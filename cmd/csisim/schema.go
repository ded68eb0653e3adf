package main

import (
	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

func newSchema(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of scenarios, for editors",
		Long: `Print the JSON Schema of scenarios. Editors with the YAML language server use it
through a first line in the scenario:

  # yaml-language-server: $schema=scenario.schema.json`,
		Example: "  csisim schema > scenario.schema.json",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			text, err := scenario.Schema()
			if err != nil {
				return err
			}
			_, err = env.stdout.Write(text)
			return err
		},
	}
}

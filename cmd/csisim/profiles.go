package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/driver/profiles"
)

func newProfiles(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "profiles [NAME]",
		Short: "List the drivers with a profile, or print one",
		Long: `List the drivers with a profile, for which a scenario only needs the binary. With a
name, print the profile itself, as a start for your own.`,
		Example: `  csisim profiles
  csisim profiles nfs > my-nfs.yaml`,
		Args: atMost(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return profile.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listProfiles(env)
			}
			return printProfile(env, args[0])
		},
	}
}

func listProfiles(env environment) error {
	table := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	for _, name := range profile.Names() {
		p, err := profile.Load(name, "")
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, p.Driver, p.Binary.Source)
	}
	return table.Flush()
}

func printProfile(env environment, name string) error {
	text, err := profiles.Files.ReadFile(name + ".yaml")
	if err != nil {
		return &failure{
			code: exitInput, err: unknown("profile", name, profile.Names()), hint: "Run 'csisim profiles' for all of them.",
		}
	}
	_, err = env.stdout.Write(text)
	return err
}

package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/live"
)

func newDown(env environment) *cobra.Command {
	var name, file string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a live cluster",
		Long:  `Stop a live cluster. If it was killed, remove its entries from the kubeconfig.`,
		Args:  atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if file != "" && !command.Flags().Changed("name") {
				var err error
				if name, err = live.ClusterIn(file); err != nil {
					return usage("--kubeconfig %s: %w", file, reason(err))
				}
			}
			if err := checkName(name); err != nil {
				return err
			}
			killed, err := live.UndoKilled(name)
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return &failure{code: exitEnvironment, err: err}
			case killed:
				fmt.Fprintf(env.stdout, "Cluster %q had been killed; it is out of the kubeconfig now\n", name)
				return nil
			}
			if err := live.Stop(name); err != nil {
				return ofLive(err)
			}
			fmt.Fprintf(env.stdout, "Cluster %q is down\n", name)
			return nil
		},
	}
	nameFlag(command.Flags(), &name)
	command.Flags().StringVar(&file, "kubeconfig", "", "stop the cluster that csisim up added to the kubeconfig `FILE`")
	complete(command, "name", cobra.NoFileCompletions)
	return command
}

package pod

import (
	"context"

	"github.com/spf13/cobra"
)

// Commands returns the commands of containers.
func Commands() []*cobra.Command { return []*cobra.Command{Proxy(), Mock(), Keep(), Node(), Sleep()} }

// Run runs one of the commands in a program that has no other commands.
func Run(ctx context.Context, args []string) error {
	root := &cobra.Command{Use: "csisim", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(Commands()...)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

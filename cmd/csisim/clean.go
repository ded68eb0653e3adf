package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/live"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/workdir"
)

func newClean(env environment) *cobra.Command {
	var dir string
	var cluster onFlags
	command := &cobra.Command{
		Use:   "clean",
		Short: "Remove the leftovers of killed runs",
		Long: `Remove the leftovers of runs that were killed (with SIGKILL, or with the machine):
programs, mounts, loop devices, control groups and files, and killed live clusters in
the kubeconfig. Runs in progress are not affected. The next 'csisim run' does the same,
except for the kubeconfig.

With --on, delete the objects of csisim on a real cluster instead: all objects with the
label app.kubernetes.io/managed-by=csisim. With --on kind, delete the whole cluster
csisim that a run has made: a run that was killed, used --keep, or is in progress.`,
		Example: `  csisim clean
  csisim clean --on kind:mine
  csisim clean --on ~/.kube/config@staging --allow-context staging`,
		Args: atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if cluster.on != "" {
				return cleanOn(command.Context(), env, cluster, dir)
			}
			removed, err := workdir.Clean(dir)
			fmt.Fprint(env.stdout, removed)
			groups := removeGroups(env.stdout)
			buried, failed := live.UndoAllKilled()
			for _, name := range buried {
				fmt.Fprintf(env.stdout, "took cluster %q, which had been killed, out of the kubeconfig\n", name)
			}
			shared, unshared := promotion.CleanShared(dir)
			for _, gone := range shared {
				fmt.Fprintf(env.stdout, "removed %s, of a deleted kind cluster\n", gone)
			}
			if err := errors.Join(err, failed, unshared); err != nil {
				return &failure{code: exitEnvironment, err: err}
			}
			if len(removed.Runs)+groups+len(buried)+len(shared) == 0 {
				fmt.Fprintln(env.stdout, "nothing is left behind")
			}
			return nil
		},
	}
	cluster.addPlace(command)
	command.Flags().StringVar(&dir, "work-dir", "", "`DIR` of the runs (default the system's temporary directory)")
	complete(command, "work-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	return command
}

// removeGroups removes the control groups of containers of killed runs, and returns their number.
func removeGroups(out io.Writer) int {
	groups := machine.RemoveDeadGroups()
	for _, dir := range groups {
		fmt.Fprintf(out, "removed control group %s\n", dir)
	}
	return len(groups)
}

// cleanOn deletes everything that csisim created on a real cluster.
func cleanOn(ctx context.Context, env environment, f onFlags, dir string) error {
	deleted, err := promotion.Clean(ctx, f.target(env, false, dir))
	for _, what := range deleted {
		fmt.Fprintf(env.stdout, "deleted %s\n", what)
	}
	if err == nil && len(deleted) == 0 {
		fmt.Fprintln(env.stdout, "nothing of csisim is there")
	}
	return err
}

// cleanBefore removes the leftovers of earlier runs. If this fails, the run continues.
func cleanBefore(env environment, dir string) {
	removed, err := workdir.Clean(dir)
	if len(removed.Runs) > 0 {
		fmt.Fprintf(env.stderr, "cleaned up after %s that had been killed:\n%s", plural.Of(len(removed.Runs), "run"), removed)
		removeGroups(env.stderr)
	}
	// The code that creates a directory there reports the error.
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.stderr, "csisim: %v\n", err)
	}
}

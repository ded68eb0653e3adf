package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// testDriverFlags holds the flags of csisim testdriver.
type testDriverFlags struct {
	subjectFlags
	classes            check.Classes
	isolation, workDir string
}

func newTestDriver(env environment) *cobra.Command {
	var f testDriverFlags
	command := &cobra.Command{
		Use:   "testdriver [flags] -- DRIVER ARGS... [-- CONTROLLER ARGS...]",
		Short: "Write a driver's definition for Kubernetes' external storage suite",
		Long: `Query a driver's capabilities, as 'csisim check' does, and print its definition for
Kubernetes' external storage suite: e2e.test --storage.testdriver=FILE. The driver is
given as for 'csisim check'.

The suite creates volumes with a class without parameters, unless --storage-class
names a class of the cluster.`,
		Example: `  csisim testdriver --fs-group-policy File -- ./bin/my-driver --endpoint={{.Endpoint}} --nodeid={{.NodeID}} > driver.yaml
  csisim testdriver --profile hostpath --binary ./hostpathplugin --storage-class csi-hostpath-sc > driver.yaml`,
		RunE: func(command *cobra.Command, args []string) error {
			subject, _, err := f.subject(args, command.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if err := f.check(subject); err != nil {
				return err
			}
			if !namespaces.Entered() {
				cleanBefore(env, f.workDir)
			}
			if done, err := isolatePrograms(command.Context(), env, f.isolation, f.workDir, subject.Driver.Socket == nil); done {
				return err
			}
			return f.write(command.Context(), env, subject)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	f.addTo(flags)
	flags.StringVar(&f.classes.Storage, "storage-class", "", "`NAME` of the StorageClass that the suite copies (default: a new one without parameters)")
	flags.StringVar(&f.classes.Snapshot, "snapshot-class", "", "`NAME` of the VolumeSnapshotClass that it copies (default: a new one)")
	flags.StringVar(&f.classes.GroupSnapshot, "group-snapshot-class", "", "`NAME` of the VolumeGroupSnapshotClass that it copies (default: a new one)")
	isolationFlag(flags, &f.isolation)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of the driver while it is queried (default the system's temporary directory)")
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	return command
}

// check rejects subjects that the suite's file cannot describe.
func (f *testDriverFlags) check(subject check.Subject) error {
	if err := checkIsolation(f.isolation); err != nil {
		return err
	}
	switch {
	case len(subject.Parameters) > 0 && f.classes.Storage == "":
		return usage("volumes have parameters, and the suite's own class has none: --storage-class NAME, a class of the cluster that has them")
	case len(subject.SnapshotParameters) > 0 && f.classes.Snapshot == "":
		return usage("snapshots have parameters, and the suite's own class has none: --snapshot-class NAME, a class of the cluster that has them")
	}
	return nil
}

func (f *testDriverFlags) write(ctx context.Context, env environment, subject check.Subject) error {
	facts, err := check.Ask(ctx, subject, check.RunOptions{WorkDir: f.workDir, Isolation: sim.Isolation(f.isolation), Patience: 2 * time.Second})
	if err != nil {
		return notAsked(ctx, err)
	}
	text, err := facts.TestDriver(f.classes)
	if err == nil {
		_, err = env.stdout.Write(text)
	}
	return err
}

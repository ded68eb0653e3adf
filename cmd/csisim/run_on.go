package main

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/real/promotion"
)

// onFlags select the real cluster on which scenarios run.
type onFlags struct {
	on, nodeImage, allowContext string
	images                      map[string]string
	plan                        bool
}

func (f *onFlags) add(command *cobra.Command) {
	f.addCluster(command)
	command.Flags().BoolVar(&f.plan, "plan", false, "with --on: print the action of each step there, impossible steps, required images and the duration; change nothing")
}

// addCluster adds the flags of every command that runs scenarios on a real cluster.
func (f *onFlags) addCluster(command *cobra.Command) {
	f.addPlace(command)
	flags := command.Flags()
	flags.StringVar(&f.nodeImage, "node-image", "", "with --on kind: the `IMAGE` of the nodes (default kind's for the scenario's version of Kubernetes)")
	flags.StringToStringVar(&f.images, "sidecar-image", nil, "with --on: `SIDECAR=IMAGE` instead of the pinned one")
	for _, flag := range []string{"node-image", "sidecar-image"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
}

// addPlace adds the flags that select the cluster.
func (f *onFlags) addPlace(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.on, "on", "", "on a real cluster: `CLUSTER` is kind (the command's own), kind:NAME, or PATH[@CONTEXT] of a kubeconfig")
	flags.StringVar(&f.allowContext, "allow-context", "", "with --on PATH: the context `NAME` of a cluster that csisim did not make")
	complete(command, "on", cobra.FixedCompletions([]string{"kind"}, cobra.ShellCompDirectiveDefault))
	complete(command, "allow-context", cobra.NoFileCompletions)
}

// forReplay returns the flags that select the same cluster and programs.
func (f onFlags) forReplay() (flags []string) {
	for _, flag := range [][2]string{{"--on", f.on}, {"--allow-context", f.allowContext}, {"--node-image", f.nodeImage}} {
		if flag[1] != "" {
			flags = append(flags, flag[0], flag[1])
		}
	}
	for _, sidecar := range slices.Sorted(maps.Keys(f.images)) {
		flags = append(flags, "--sidecar-image", sidecar+"="+f.images[sidecar])
	}
	return flags
}

func (f onFlags) target(env environment, keep bool, workDir string) promotion.TargetOptions {
	return promotion.TargetOptions{
		On: f.on, NodeImage: f.nodeImage, AllowContext: f.allowContext, Keep: keep, Images: f.images, WorkDir: workDir, Progress: env.stderr,
	}
}

// runOn runs scenarios on a real cluster. The flags and the scenarios limit the number of parallel
// runs.
func runOn(ctx context.Context, env environment, f runFlags, scenarios []*scenario.Scenario) error {
	if f.plan {
		return plan(ctx, env, f, scenarios)
	}
	for _, s := range scenarios {
		if err := refusal(s, f.onFlags); err != nil {
			return err
		}
	}
	return f.onFlags.onTarget(ctx, env, f.keep, f.workDir, scenarios, func(target *promotion.Target) error {
		s := newSession(env, f, scenarios)
		s.world = worldOf(target)
		s.turn = func(sc *scenario.Scenario) (done func()) { return target.Turn(sc.Subject()) }
		s.runAll(ctx, scenarios)
		return s.end(ctx)
	})
}

// onTarget deploys everything that the scenarios need to the cluster, calls run with the cluster,
// and removes all of it afterwards.
func (f onFlags) onTarget(ctx context.Context, env environment, keep bool, workDir string, scenarios []*scenario.Scenario, run func(*promotion.Target) error) (err error) {
	target, err := promotion.Open(ctx, scenario.Subjects(scenarios), f.target(env, keep, workDir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	for _, s := range scenarios {
		warnings(env, s)
	}
	return run(target)
}

// worldOf returns a function that makes the worlds of scenarios on a cluster.
func worldOf(target *promotion.Target) func(context.Context, *scenario.Scenario, scenario.RunOptions) (scenario.World, error) {
	return func(ctx context.Context, s *scenario.Scenario, o scenario.RunOptions) (scenario.World, error) {
		return target.World(ctx, s.Subject(), o.Sinks)
	}
}

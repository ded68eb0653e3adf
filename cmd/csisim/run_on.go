package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/promotion"
	"github.com/csisim/csisim/cmd/internal/scenario"
)

// onFlags say on which real cluster scenarios run.
type onFlags struct {
	on, nodeImage, allowContext string
	images                      map[string]string
	plan                        bool
}

func (f *onFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.on, "on", "", "run on a real cluster: `CLUSTER` is kind (made for this run), kind:NAME, or PATH[@CONTEXT] of a kubeconfig")
	flags.BoolVar(&f.plan, "plan", false, "with --on: print what each step becomes there, which cannot be taken, which images are needed and how long it takes; touch nothing")
	flags.StringVar(&f.nodeImage, "node-image", "", "with --on kind: the `IMAGE` of the nodes (default kind's own)")
	flags.StringVar(&f.allowContext, "allow-context", "", "with --on PATH: the context `NAME` of a cluster that csisim did not make")
	flags.StringToStringVar(&f.images, "sidecar-image", nil, "with --on: `SIDECAR=IMAGE` instead of the pinned one")
	complete(command, "on", cobra.FixedCompletions([]string{"kind"}, cobra.ShellCompDirectiveDefault))
	for _, flag := range []string{"node-image", "allow-context", "sidecar-image"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
}

func (f onFlags) target(env environment, keep bool, workDir string) promotion.TargetOptions {
	return promotion.TargetOptions{
		On: f.on, NodeImage: f.nodeImage, AllowContext: f.allowContext, Keep: keep, Images: f.images, WorkDir: workDir, Progress: env.stderr,
	}
}

// runOn runs scenarios on a real cluster, one after the other.
func runOn(ctx context.Context, env environment, f runFlags, scenarios []*scenario.Scenario) (err error) {
	if f.plan {
		return plan(ctx, env, f, scenarios)
	}
	for _, s := range scenarios {
		if err := refusal(s); err != nil {
			return err
		}
	}
	target, err := promotion.Open(ctx, scenarios, f.onFlags.target(env, f.keep, f.workDir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	f.parallel = 1
	for _, s := range scenarios {
		warnings(env, s)
	}
	s := newSession(env, f, scenarios)
	s.world = target.World
	s.runAll(ctx, scenarios)
	return s.end(ctx)
}

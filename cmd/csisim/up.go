package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/live"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"

	_ "embed"
)

func newUp(env environment) *cobra.Command {
	f := upFlags{Options: live.Options{Stdout: env.stdout, Stderr: env.stderr}}
	command := &cobra.Command{
		Use:   "up",
		Short: "Run a live cluster for kubectl and other clients",
		Long: `Run a cluster by the real clock, with a Kubernetes API on loopback, until it is
stopped. With a scenario, run its steps first, as fast as possible; the cluster then
continues from there. The same port serves a page that shows the cluster.

The cluster is added to the kubeconfig that kubectl uses, or to the one given by
--kubeconfig, and removed from it at the end; other entries stay. After a SIGKILL,
'csisim down' or 'csisim clean' removes it.

With --state, the next 'csisim up' with the same directory continues with all objects
and volumes, also after a SIGKILL; its nodes have been rebooted.`,
		Example: `  csisim up
  csisim up -f cluster.yaml --kubeconfig ./kubeconfig
  csisim up -f cluster.yaml --state ./cluster
  kubectl --context csisim get nodes`,
		Args: atMost(0),
		RunE: func(command *cobra.Command, _ []string) error {
			if err := f.check(command); err != nil {
				return err
			}
			return up(command.Context(), env, f)
		},
	}
	f.bind(command)
	return command
}

//go:embed up.yaml
var defaultCluster []byte

func up(ctx context.Context, env environment, f upFlags) (err error) {
	if !namespaces.Entered() {
		cleanBefore(env, f.WorkDir)
	}
	reading := interruptible(ctx)
	s, err := f.scenario(env)
	reading()
	if err != nil {
		return err
	}
	if done, err := isolate(ctx, env, f.Isolation, f.WorkDir, []*scenario.Scenario{s}); done {
		return err
	}
	claimed, err := live.ClaimName(f.Name)
	if err != nil {
		return ofLive(err)
	}
	defer func() {
		if failed := claimed.Release(); failed != nil && err == nil {
			err = &failure{code: exitEnvironment, err: failed}
		}
	}()
	result, err := live.Up(ctx, claimed, s, f.Options)
	return reportEnd(ctx, env, result, ofLive(err))
}

// ofLive adds the exit code to an error of package live.
func ofLive(err error) error {
	var input *live.InputError
	var environment *live.EnvironmentError
	switch {
	case errors.As(err, &input):
		return &failure{code: exitInput, err: input}
	case errors.As(err, &environment):
		return &failure{code: exitEnvironment, err: environment}
	}
	return err
}

// reportEnd prints the notes and failures of a finished cluster. It returns the reason for the end,
// unless a user stopped the cluster.
func reportEnd(ctx context.Context, env environment, result *scenario.Result, err error) error {
	if result != nil && len(result.Notes) > 0 {
		fmt.Fprintln(env.stdout, strings.Join(result.Notes, "\n"))
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	if result == nil || result.Exit == scenario.Passed || ctx.Err() != nil {
		return hungUp(ctx)
	}
	for _, failed := range result.Failures {
		fmt.Fprint(env.stderr, trace.Escaped(failed.Text(result.Names)))
	}
	return reported(exitFailed)
}

func (f upFlags) scenario(env environment) (*scenario.Scenario, error) {
	if f.file == "" {
		return scenario.Parse("up.yaml", defaultCluster)
	}
	loaded, err := loadScenarios(env, []string{f.file})
	if err != nil {
		return nil, err
	}
	if names := loaded[0].Clusters; len(names) > 0 {
		return nil, usage("%s: clusters: csisim up lives one cluster, and the scenario has %d (%s): csisim run runs it", f.file, len(names), strings.Join(names, ", "))
	}
	return loaded[0], nil
}

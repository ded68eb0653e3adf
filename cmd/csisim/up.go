package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"

	_ "embed"
)

func newUp(env environment) *cobra.Command {
	var f upFlags
	command := &cobra.Command{
		Use:   "up",
		Short: "Run a live cluster for kubectl and other clients",
		Long: `Run a cluster by the real clock, with a Kubernetes API on loopback, until it is
stopped. With a scenario, run its steps first, as fast as possible; the cluster then
continues from there. The same port serves a page that shows the cluster.

The cluster is added to the kubeconfig that kubectl uses, or to the one given by
--kubeconfig, and removed from it at the end; other entries stay. After a SIGKILL,
'csisim down' or 'csisim clean' removes it.`,
		Example: `  csisim up
  csisim up -f cluster.yaml --kubeconfig ./kubeconfig
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
		cleanBefore(env, f.workDir)
	}
	reading := interruptible(ctx)
	s, err := f.scenario(env)
	reading()
	if err != nil {
		return err
	}
	if done, err := isolate(ctx, env, f.isolation, f.workDir, []*scenario.Scenario{s}); done {
		return err
	}
	claimed, err := claimName(f.name)
	if err != nil {
		return err
	}
	defer func() {
		if failed := claimed.release(); failed != nil && err == nil {
			err = &failure{code: exitEnvironment, err: failed}
		}
	}()
	at, err := f.open(claimed)
	if err != nil {
		return err
	}
	defer at.listener.Close()
	options, err := f.options(ctx, s, at)
	if err != nil {
		return err
	}
	joined, err := f.connect(env, s)
	if err != nil {
		return err
	}
	if joined != nil {
		defer joined.Close()
		options.Network = joined
	}
	options.Inspect = func(c *sim.Simulation) error {
		f.printUnmapped(env, s)
		missing, err := f.authorize(env, c)
		if err != nil {
			return err
		}
		if joined != nil {
			joined.Serve(c.Discovery())
		}
		return errors.Join(at.live(ctx, env, c, f.speed), missing.print(env.stdout))
	}
	result, err := scenario.Run(ctx, s, options)
	return reportEnd(ctx, env, result, err)
}

// bootTime is the virtual time that a cluster takes to start, plus a second; it passes at once. The
// cluster's clock starts that far in the past. Otherwise its objects would come from the future for
// clients with their own clocks, and kubectl describe would show the age <invalid>.
const bootTime = 11 * time.Second

// options returns the options of the cluster's run.
func (f upFlags) options(ctx context.Context, s *scenario.Scenario, at *entrance) (scenario.RunOptions, error) {
	roots, err := rootFileSystems(ctx, s)
	if err != nil {
		return scenario.RunOptions{}, err
	}
	pull, err := f.puller()
	return scenario.RunOptions{
		RootFS: roots, RefuseUnmapped: f.unmapped == refuse, Pull: pull,
		WorkDir: f.workDir, Isolation: sim.Isolation(f.isolation), HostPaths: f.hostPaths, Start: time.Now().Add(-bootTime), OnDisk: true,
		Token: at.access.token, Address: at.page.host, Authority: at.access.authority,
	}, err
}

// reportEnd prints the notes and failures of a cluster that ended, and returns the reason unless a
// user stopped it.
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
	loaded, err := load(env, []string{f.file})
	if err != nil {
		return nil, err
	}
	if names := loaded[0].Clusters; len(names) > 0 {
		return nil, usage("%s: clusters: csisim up lives one cluster, and the scenario has %d (%s): csisim run runs it", f.file, len(names), strings.Join(names, ", "))
	}
	return loaded[0], nil
}

// Package live runs a cluster by the real clock, for kubectl and other clients: csisim up.
package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/sim"
)

// Options are the options of a live cluster.
type Options struct {
	// Name is the name of the cluster and of its context.
	Name string
	// Kubeconfig is the file to which the cluster is added. Default: the one that kubectl uses.
	Kubeconfig string
	// Port is the port of the API and the page on loopback. Default: a free port.
	Port int
	// Speed is the speed of the cluster's clock, relative to the real clock.
	Speed float64
	// Isolation, WorkDir and HostPaths have the same meaning as in sim.Options.
	Isolation string
	WorkDir   string
	HostPaths []string
	// State is the directory that keeps the cluster's objects and volumes. Default: they end with
	// the cluster.
	State string
	// Unmapped is one of UnmappedModes.
	Unmapped string
	// Pull fetches images that the scenario does not map from their registries.
	Pull bool
	// Authorization is one of Authorizations. Network is one of NetworkModes.
	Authorization string
	Network       string
	// Stdout receives the information about the cluster, Stderr the requests that no role allows.
	Stdout, Stderr io.Writer
}

// keptCalls bounds the newest calls and Kubernetes events that the page shows. It suffices for a
// few thousand pods and takes 10 MiB.
const keptCalls = 20_000

// bootTime is the virtual time for the start of a cluster, plus a second. This time passes
// instantly, so the cluster's clock starts that far in the past. Otherwise clients would see
// creation times in the future, and kubectl describe would show the age <invalid>.
const bootTime = 11 * time.Second

// Up runs a scenario and then serves its cluster, under the claimed name, until ctx is done. Its
// errors are those of scenario.Run, and *EnvironmentError.
func Up(ctx context.Context, claimed *Claim, s *scenario.Scenario, o Options) (*scenario.Result, error) {
	kept, err := o.openKept()
	if err != nil {
		return nil, err
	}
	result, err := o.up(ctx, claimed, s, kept)
	return result, errors.Join(err, kept.close())
}

func (o Options) up(ctx context.Context, claimed *Claim, s *scenario.Scenario, kept *kept) (*scenario.Result, error) {
	at, err := o.open(claimed)
	if err != nil {
		return nil, err
	}
	defer at.listener.Close()
	options, err := o.run(ctx, s, at)
	if err != nil {
		return nil, err
	}
	joined, err := o.connect(s)
	if err != nil {
		return nil, err
	}
	options.Kept, options.Start = kept.options(), kept.start(ctx)
	if joined != nil {
		defer joined.Close()
		options.Network = joined
	}
	options.Inspect = func(c *sim.Simulation) error {
		c.World.Trace.LimitCalls(keptCalls)
		o.printUnmapped(s)
		missing, err := o.authorize(c)
		if err != nil {
			return err
		}
		if joined != nil {
			joined.Serve(c.Discovery())
		}
		if err := kept.follow(c); err != nil {
			return &EnvironmentError{err}
		}
		defer kept.end()
		fmt.Fprint(o.Stdout, kept.hint())
		return errors.Join(at.live(ctx, o.Stdout, c, o.Speed), missing.print(o.Stdout))
	}
	return scenario.Run(ctx, s, options)
}

// run returns the options of the cluster's run.
func (o Options) run(ctx context.Context, s *scenario.Scenario, at *entrance) (scenario.RunOptions, error) {
	roots, err := rootFileSystems(ctx, s)
	if err != nil {
		return scenario.RunOptions{}, err
	}
	pull, err := o.puller()
	return scenario.RunOptions{
		RootFS: roots, RefuseUnmapped: o.Unmapped == Refuse, Pull: pull,
		WorkDir: o.WorkDir, Isolation: sim.Isolation(o.Isolation), HostPaths: o.HostPaths, OnDisk: true,
		Token: at.access.Token, Address: at.page.Host, Authority: at.access.Authority,
	}, err
}

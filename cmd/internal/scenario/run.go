package scenario

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// RunOptions are the options of a run. The zero value is a calm run.
type RunOptions struct {
	// Strategy makes the strategy of a run. Default: kernel.Calm, or a random one if there is a
	// seed.
	Strategy func() kernel.Strategy
	// Seed of the random strategy. Default: 0, for the calm strategy.
	Seed uint64
	// FaultSpace is the set of faults that the strategy may inject into driver calls. Default:
	// none.
	FaultSpace fault.Space
	// Patience bounds the wall time for which virtual time stops for a driver call. Default: 2 s.
	Patience time.Duration
	// WaitForDriver and Experience have the same meaning as in sim.Options.
	WaitForDriver time.Duration
	Experience    *unfinished.Experience
	// Longer is added to the timeouts of the scenario's waits. Default: 0.
	Longer time.Duration
	// Until is the name or number of the step after which the run ends. Default: the end.
	Until string
	// Stacks are the stacks of sim.Options.
	Stacks *kernel.Stacks
	// Sinks see every event of the trace.
	Sinks []trace.Sink
	// Progress is called when a step begins and when it has ended.
	Progress func(StepResult)
	// CheckDeterminism runs the scenario twice and fails if the runs differ, in an action of csisim
	// or in an answer of a driver.
	CheckDeterminism bool
	// WorkDir is the parent of the run's directory. Default: os.TempDir().
	WorkDir string
	// DriverLogs is the directory for the output of driver programs. Default: the run's directory.
	DriverLogs string
	// Guard makes a run fail if a component changes a stored object in place.
	Guard bool
	// Isolation determines how nodes are separated. Default: sim.Auto.
	Isolation sim.Isolation
	// Strict has the same meaning as in sim.Options.
	Strict bool
	// KeepStates has the same meaning as in sim.Options.
	KeepStates int
	// SystemCalls and NoChoices have the same meaning as in sim.Options.
	SystemCalls, NoChoices bool
	// HostPaths lists host directories that driver programs may write to. Default: none.
	HostPaths []string
	// RootFS are the root file systems of entries in images; other entries are programs.
	RootFS map[string]sim.RootFS
	// RefuseUnmapped makes containers fail if images does not map their image. Default: they are
	// records.
	RefuseUnmapped bool
	// Network has the same meaning as in sim.Options.
	Network sim.Network
	// Pull has the same meaning as in sim.Options.
	Pull func(ctx context.Context, image string) (sim.RootFS, error)
	// Start is the virtual time at which the run begins. Default: kernel.Epoch.
	Start time.Time
	// Names seeds the names of volumes. Runs never share a volume name if their Names or scenarios
	// differ. Default: all runs make the same names.
	Names string
	// Token is required from clients of the cluster's API. Default: none.
	Token string
	// OnDisk keeps the directories of kubelets on disk for programs outside the cluster. Default:
	// only if such programs replace sidecars.
	OnDisk bool
	// Address is the address at which the cluster's API will be served, and Authority the PEM
	// certificate that its clients trust, for programs in containers. Default: the API is not
	// served.
	Address   string
	Authority []byte
	// World is the cluster that the scenario runs on; the run closes it. Default: a simulation.
	World func(context.Context, *Scenario, RunOptions) (World, error)
	// Kept is as in sim.Options. If a cluster has used this state before, the objects and the steps
	// of the scenario are not played again.
	Kept *sim.Kept
	// Inspect is called with the cluster at the end of a run, before it is closed: to read objects
	// and files, or to serve its API. Default: none.
	Inspect func(*sim.Simulation) error
}

// Run runs a scenario. The result is complete even if the scenario fails. The error is a
// *sim.ConfigError or *sim.EnvironmentError if the scenario cannot run at all, or the end of ctx.
func Run(ctx context.Context, s *Scenario, o RunOptions) (*Result, error) {
	if _, err := s.last(o.Until); err != nil {
		return nil, err
	}
	if len(s.Clusters) > 0 && (o.World != nil || o.Inspect != nil) {
		return nil, &sim.ConfigError{Subject: "scenario " + s.Name, Problem: "it has several clusters, and only csisim run, view and explore take these"}
	}
	if o.World != nil {
		return runOn(ctx, s, o)
	}
	if !o.CheckDeterminism {
		return runOnce(ctx, s, o, nil)
	}
	return runTwice(ctx, s, o)
}

// runOn runs a scenario on a cluster that is not a simulation.
func runOn(ctx context.Context, s *Scenario, o RunOptions) (*Result, error) {
	watch := startStopwatch()
	result := &Result{Scenario: s, Exit: Passed}
	cluster, err := o.World(ctx, s, o)
	if err != nil {
		result.Exit = exitOf(err)
		return result, fmt.Errorf("run scenario %s: %w", s.Name, err)
	}
	defer context.AfterFunc(ctx, func() { cluster.Interrupt(context.Cause(ctx)) })()
	r := newRunner(s, cluster.Trace(), o, result, cluster)
	r.interrupted = func() error { return context.Cause(ctx) }
	r.run()
	r.finish()
	err = errors.Join(context.Cause(ctx), r.environment, cluster.Close())
	for _, volume := range cluster.Forced() {
		result.Notes = append(result.Notes, "left at the end: persistentvolumes/"+volume+", which its driver did not delete; csisim deleted the object")
	}
	result.WallTime = watch.elapsed()
	if err != nil {
		result.Exit = exitOf(err)
		return result, fmt.Errorf("run scenario %s: %w", s.Name, err)
	}
	return result, nil
}

func runOnce(ctx context.Context, s *Scenario, o RunOptions, recorder *kernel.Recorder) (*Result, error) {
	watch := startStopwatch()
	result := &Result{Scenario: s, Exit: Passed}
	clusters, err := s.start(s.options(ctx, o, recorder))
	if err != nil {
		result.Exit = exitOf(err)
		return result, fmt.Errorf("run scenario %s: %w", s.Name, err)
	}
	defer context.AfterFunc(ctx, func() { clusters[0].Interrupt(context.Cause(ctx)) })()
	var worlds []World
	for _, cluster := range clusters {
		worlds = append(worlds, simulated{cluster})
	}
	r := newRunner(s, clusters[0].Trace(), o, result, worlds...)
	r.interrupted = func() error { return context.Cause(ctx) }
	r.run()
	result.Waits, result.Overdue = clusters[0].Waits(), clusters[0].Overdue()
	if ctx.Err() == nil && o.Inspect != nil {
		err = o.Inspect(clusters[0])
	}
	err = errors.Join(err, context.Cause(ctx))
	for _, cluster := range clusters {
		err = errors.Join(err, cluster.Close())
	}
	r.finish()
	result.WallTime = watch.elapsed()
	if err != nil {
		result.Exit = exitOf(err)
		return result, fmt.Errorf("run scenario %s: %w", s.Name, err)
	}
	return result, nil
}

// start creates the scenario's cluster, or its clusters.
func (s *Scenario) start(o sim.Options) ([]*sim.Simulation, error) {
	if len(s.Clusters) == 0 {
		only, err := sim.Start(o)
		return []*sim.Simulation{only}, err
	}
	pair, err := sim.StartPair(o, [2]string(s.Clusters))
	return pair[:], err
}

// exitOf returns the kind of failure of a scenario that does not run.
func exitOf(err error) Exit {
	var config *sim.ConfigError
	var environment *sim.EnvironmentError
	switch {
	case errors.As(err, &config):
		return BadInput
	case errors.As(err, &environment):
		return Environment
	}
	return Failed
}

// last returns the index of the step after which a run ends; the last step by default.
func (s *Scenario) last(until string) (int, error) {
	if until == "" {
		return len(s.Steps) - 1, nil
	}
	for i, step := range s.Steps {
		if step.Name == until {
			return i, nil
		}
	}
	number, err := strconv.Atoi(until)
	if err != nil || number < 1 || number > len(s.Steps) {
		return 0, &sim.ConfigError{
			Subject: fmt.Sprintf("step %q", until),
			Problem: fmt.Sprintf("there is no such step; give a step's name or a number from 1 to %d", len(s.Steps)),
		}
	}
	return number - 1, nil
}

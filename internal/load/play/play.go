// Package play plays loads on a cluster.
package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Cluster is the cluster on which a level is played.
type Cluster interface {
	// Store has the objects.
	Store() *store.Store
	// Now returns the cluster time since the cluster began.
	Now() time.Duration
	Apply(store.Object) (string, error)
	Delete(*store.Resource, store.Key, ...store.DeleteOption) error
	// WaitFor runs the cluster until cond holds. It returns a *Stuck error if the limit is
	// exceeded.
	WaitFor(what string, limit time.Duration, cond func() bool) error
	Advance(time.Duration) error
	Nodes() []string
	// Cordon keeps new pods from a node.
	Cordon(node string, on bool) error
	RestartKubelet(node string) error
	// RestartDriver stops and restarts the driver's program on a node; if node is empty, its
	// controller plugin. It returns the real time until the program answers.
	RestartDriver(node string) (time.Duration, error)
	// UnderWay returns the number of calls that the driver has not answered yet. It may be called
	// from any goroutine.
	UnderWay() int
	// Programs returns the process ids of the driver's programs, by the names of the plugins.
	Programs() []Program
	// Opened counts how often the driver's programs have opened files for reading, by path; nil if
	// unknown.
	Opened() map[string]int
	// Died returns the programs of the driver that exited by themselves.
	Died() []load.Death
	Interrupt(error)
	Close() error
}

// Program is a running program of the driver.
type Program struct {
	Plugin string
	PID    int
	// Family returns the ids of the program and its child processes.
	Family func() []int
	// Busy returns how many threads of them compute, or wait for a processor or a disk.
	Busy func() int
}

// Stuck is the end of a wait at its limit.
type Stuck struct{ What string }

func (s *Stuck) Error() string { return "waited in vain for " + s.What }

// Workload creates the objects of one life. The names of all objects contain the name of the life.
type Workload interface {
	// Claim returns its claims, and the objects that are deleted with them.
	Claim(name string) []store.Object
	// Pod returns its pod, on a node.
	Pod(name, node string) store.Object
	// Snapshot returns a snapshot of a claim; nil if the driver has no snapshots.
	Snapshot(name string) store.Object
	// Grown returns the claim with twice its size.
	Grown(name string) store.Object
}

// Options describe a load that is played.
type Options struct {
	Plan   load.Plan
	Builds []Build
	// Progress is called when something begins. Default: nothing.
	Progress func(volumes, run int, phase string)
}

// Build is one of the builds of a driver under load.
type Build struct {
	Workload Workload
	// Start starts the cluster of a level. Its trace goes to the sink. If looks is set, the
	// programs of the driver count the files that they open.
	Start func(ctx context.Context, volumes int, looks bool, sink trace.Sink) (Cluster, error)
}

// player plays the runs of one build at one level.
type player struct {
	Options
	Build
	Cluster
	record *load.Record
	run    *load.Run
	level  *load.Level
	number int // of the run, from 1
	lives  int // number of lives that have begun in this level
	alive  []life
}

// life is the life of a pod and its volumes.
type life struct {
	name, node string
	pod        string   // its name
	claims     []string // the names of its claims
}

// Play plays all levels, the smallest first; several builds alternate. It returns a result for each
// build. If a level cannot be completed, the result says so and contains the completed part. The
// error is for a cluster that cannot start.
func Play(ctx context.Context, o Options) ([]*load.Result, error) {
	var results []*load.Result
	for range o.Builds {
		results = append(results, &load.Result{Format: load.Format, Machine: load.ThisMachine(), Plan: o.Plan})
	}
	for _, volumes := range o.Plan.Volumes {
		levels, err := o.level(ctx, volumes)
		for i, level := range levels {
			if len(level.Runs) > 0 {
				results[i].Levels = append(results[i].Levels, *level)
			}
		}
		ended := ""
		switch stuck := (*Stuck)(nil); {
		case ctx.Err() != nil:
			ended = "interrupted"
		case errors.As(err, &stuck):
			ended = fmt.Sprintf("with %s: %v", plural.Of(volumes, "volume"), err)
		case err != nil:
			return results, fmt.Errorf("load with %d volumes: %w", volumes, err)
		}
		if ended != "" {
			for _, r := range results {
				r.Ended = ended
			}
			return results, nil
		}
	}
	for i, build := range o.Builds {
		if err := o.look(ctx, build, results[i]); err != nil {
			return results, err
		}
	}
	return results, nil
}

// level plays the runs of a level, each build in one cluster.
func (o Options) level(ctx context.Context, volumes int) (levels []*load.Level, err error) {
	var players []*player
	for _, build := range o.Builds {
		p := &player{Options: o, Build: build, record: load.NewRecord(), level: &load.Level{Volumes: volumes}}
		levels = append(levels, p.level)
		if p.Cluster, err = build.Start(ctx, volumes, false, p.record.Sink); err != nil {
			return levels, err
		}
		defer func() { err = errors.Join(err, p.Close()) }()
		defer context.AfterFunc(ctx, func() { p.Interrupt(context.Cause(ctx)) })()
		p.record.Reset()
		players = append(players, p)
	}
	for number := range o.Plan.Runs {
		for i := range players {
			// The last build of the previous run comes first, so that no build has an advantage.
			p := players[(i+number)%len(players)]
			p.number = number + 1
			if err := p.once(); err != nil {
				return levels, err
			}
		}
	}
	return levels, nil
}

// once plays one run, and stores it.
func (p *player) once() error {
	p.run = &load.Run{}
	err := p.play()
	p.record.Into(p.run)
	p.run.Died = p.Died()
	var stuck *Stuck
	if errors.As(err, &stuck) {
		p.run.Stuck = stuck.What
	}
	if err == nil || stuck != nil {
		p.level.Runs = append(p.level.Runs, *p.run)
	}
	if err == nil && len(p.run.Died) > 0 {
		return &Stuck{"the driver, which has died"}
	}
	return err
}

// play plays one run: all lives begin, the shape acts on them, and all lives end.
func (p *player) play() error {
	shape := shapes[p.Plan.Shape]
	p.sample("before")
	if err := shape.up(p); err != nil {
		return err
	}
	if shape.between != nil {
		if err := shape.between(p); err != nil {
			return err
		}
	}
	if err := p.down(); err != nil {
		return err
	}
	p.sample("after")
	return nil
}

// phase measures a part of a run.
func (p *player) phase(name string, do func() error) error {
	if p.Progress != nil {
		p.Progress(p.level.Volumes, p.number, name)
	}
	began, real, before, busy := p.Now(), time.Now(), p.used(), p.watchBusy()
	err := do()
	now := p.used()
	p.run.Phases = append(p.run.Phases, load.Phase{
		Name: name, Began: began.Microseconds(), Took: (p.Now() - began).Microseconds(), Real: time.Since(real).Microseconds(), CPU: now.CPU - before.CPU, Busy: busy(),
		Ran: max(0, now.Ran-before.Ran), Delayed: max(0, now.Delayed-before.Delayed),
	})
	return err
}

func (p *player) sample(at string) {
	s := load.Sample{At: at, Programs: p.uses()}
	for i, program := range p.Programs() {
		s.Programs[i].Goroutines = load.Goroutines(program.PID)
	}
	p.run.Samples = append(p.run.Samples, s)
}

func (p *player) uses() (all []load.Use) {
	for _, program := range p.Programs() {
		all = append(all, load.Used(program.Plugin, program.Family()))
	}
	return all
}

func (p *player) used() load.Use { return load.Sample{Programs: p.uses()}.Total() }

package check

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/scenario"
	"github.com/csisim/csisim/sim/trace"
)

// RunOptions say how trials are run. The zero value runs them one after the other,
// calmly and to the end.
type RunOptions struct {
	// Budget is the wall time after which no further trial begins. Default: none.
	Budget time.Duration
	// Parallel is how many trials run at once. Default: 1.
	Parallel int
	// Strategy makes the strategy of each run. Default: kernel.Calm.
	Strategy func() kernel.Strategy
	// Patience, WorkDir and Isolation are those of scenario.RunOptions.
	Patience  time.Duration
	WorkDir   string
	Isolation sim.Isolation
	// Logs is where the output of driver programs is kept, a directory for each
	// trial. Default: nowhere.
	Logs string
	// Sinks see every event of the traces. Default: none.
	Sinks []trace.Sink
	// Progress is told when a trial begins and when it has ended, by one trial at a
	// time. Default: nobody.
	Progress func(Progress)
}

// Progress is how far the trials are.
type Progress struct {
	Ended, Planned int
	Running        []string // names of trials, the oldest first
}

// Outcome is what came of a trial.
type Outcome struct {
	*Trial
	// Result is nil if the trial was not tried or could not be run; Err says why it
	// could not.
	Result *scenario.Result
	Err    error
	// Logs is where the driver's output is; empty if it was not kept.
	Logs string
}

// Passed, Failed and Tried tell outcomes apart; one that could not be run has failed.
func (o Outcome) Passed() bool { return o.Tried() && !o.Failed() }

// Failed says that the driver, or the run, did not do what it should.
func (o Outcome) Failed() bool {
	return o.Err != nil || (o.Result != nil && o.Result.Exit != scenario.Passed)
}

// Tried says that the trial was run.
func (o Outcome) Tried() bool { return o.NotTried == "" }

func (o RunOptions) scenarioOptions() scenario.RunOptions {
	return scenario.RunOptions{
		Strategy: o.Strategy, Patience: o.Patience, WorkDir: o.WorkDir, Isolation: o.Isolation, Sinks: o.Sinks, DriverLogs: o.Logs,
	}
}

// noTime is why a trial was not tried for which there was no time.
const noTime = "did not fit into the budget"

// Run runs the trials side by side. The outcomes are in the order of the trials; the
// error is for the end of ctx.
func Run(ctx context.Context, trials []*Trial, o RunOptions) ([]Outcome, error) {
	began := time.Now()
	r := &running{options: o, outcomes: make([]Outcome, len(trials)), planned: len(trials)}
	var workers sync.WaitGroup
	for range max(1, o.Parallel) {
		workers.Go(func() {
			for {
				i, t := r.take(trials)
				switch {
				case t == nil:
					return
				case t.NotTried == "" && (ctx.Err() != nil || o.Budget > 0 && time.Since(began) > o.Budget):
					late := *t
					late.NotTried = noTime
					r.end(i, Outcome{Trial: &late})
				case t.NotTried != "":
					r.end(i, Outcome{Trial: t})
				default:
					r.end(i, r.try(ctx, t))
				}
			}
		})
	}
	workers.Wait()
	return r.outcomes, context.Cause(ctx)
}

// running is what the workers share.
type running struct {
	options  RunOptions
	planned  int
	lock     sync.Mutex
	next     int
	ended    int
	names    []string // of the trials that run
	outcomes []Outcome
}

// take is the next trial, nil if there is none.
func (r *running) take(trials []*Trial) (int, *Trial) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.next == len(trials) {
		return 0, nil
	}
	t := trials[r.next]
	r.next++
	if t.NotTried == "" {
		r.names = append(r.names, t.Name())
		r.tell()
	}
	return r.next - 1, t
}

func (r *running) end(i int, o Outcome) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.outcomes[i] = o
	r.ended++
	for at, name := range r.names {
		if name == o.Name() {
			r.names = append(r.names[:at:at], r.names[at+1:]...)
			break
		}
	}
	r.tell()
}

func (r *running) tell() {
	if r.options.Progress != nil {
		r.options.Progress(Progress{Ended: r.ended, Planned: r.planned, Running: r.names})
	}
}

func (r *running) try(ctx context.Context, t *Trial) Outcome {
	outcome := Outcome{Trial: t}
	options := r.options.scenarioOptions()
	if r.options.Logs != "" {
		outcome.Logs = filepath.Join(r.options.Logs, t.Group+"-"+t.Title)
		options.DriverLogs = outcome.Logs
	}
	outcome.Result, outcome.Err = scenario.Run(ctx, t.Scenario, options)
	if outcome.Failed() && outcome.Result != nil {
		if why := beyond(outcome.Result); why != "" {
			late := *t
			late.NotTried = why
			return Outcome{Trial: &late}
		}
	}
	if errors.Is(outcome.Err, context.Canceled) {
		outcome.Err = context.Cause(ctx)
	}
	return outcome
}

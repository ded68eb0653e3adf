package check

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// RunOptions are the options for running trials. The zero value runs all trials, one after the
// other, with calm decisions.
type RunOptions struct {
	// Budget is the wall time after which no further trial starts. The time for which trials waited
	// for the driver, according to Experience, does not count. The parts of failed trials have a
	// sixth of it in any case. Default: no limit.
	Budget time.Duration
	// Parallel is the number of trials that run at once. Default: 1.
	Parallel int
	// Strategy makes the strategy of each run. Default: kernel.Calm.
	Strategy func() kernel.Strategy
	// Names distinguishes the names of volumes. If it is set, the names also differ between trials.
	// Default: all trials make the same names.
	Names string
	// Patience, WaitForDriver, Experience, WorkDir and Isolation have the same meaning as in
	// scenario.RunOptions.
	Patience      time.Duration
	WaitForDriver time.Duration
	Experience    *unfinished.Experience
	WorkDir       string
	Isolation     sim.Isolation
	// HostPaths and Strict have the same meaning as in scenario.RunOptions.
	HostPaths []string
	Strict    bool
	// SystemCalls has the same meaning as in sim.Options.
	SystemCalls bool
	// Logs is the directory for the output of driver programs, with a subdirectory for each trial.
	// Default: the output is not kept.
	Logs string
	// KeepStates has the same meaning as in sim.Options.
	KeepStates int
	// Sinks see every event of the traces. Default: none.
	Sinks []trace.Sink
	// If parallel trials disturb each other, Disturbed is called when the last of these trials has
	// ended. Default: not called.
	Disturbed func(*Shared)
	// Progress is called when a trial starts and when it ends, never concurrently. Default: not
	// called.
	Progress func(Progress)
}

// Progress is the progress of the trials.
type Progress struct {
	// Planned is the number of trials, Ended the number of trials that have ended, and Failed the
	// number of trials that have failed.
	Ended, Planned, Failed int
	Running                []string // names of trials, the oldest first
}

// Outcome is the outcome of a trial.
type Outcome struct {
	*Trial
	// Result is nil if the trial was not tried or could not be run. Err is the reason why it could
	// not be run.
	Result *scenario.Result
	Err    error
	// Logs is the directory of the driver's output; empty if the output was not kept.
	Logs string
	// Search is the outcome of a search; nil for a trial of one run. Result is then the result of
	// its first finding or of its calm run.
	Search *Searched
}

// Passed reports whether the trial was run and has not failed.
func (o Outcome) Passed() bool { return o.Tried() && !o.Failed() }

// Failed reports whether the trial failed or could not be run.
func (o Outcome) Failed() bool {
	return o.Err != nil || (o.Result != nil && o.Result.Exit != scenario.Passed)
}

// Tried reports whether the trial was run.
func (o Outcome) Tried() bool { return o.Trial.Runs() }

func (o RunOptions) scenarioOptions() scenario.RunOptions {
	return scenario.RunOptions{
		Strategy: o.Strategy, Names: o.Names, Patience: o.Patience, WaitForDriver: o.WaitForDriver, Experience: o.Experience, WorkDir: o.WorkDir, Isolation: o.Isolation, HostPaths: o.HostPaths, Strict: o.Strict, SystemCalls: o.SystemCalls, Sinks: o.Sinks, KeepStates: o.KeepStates, DriverLogs: o.Logs,
	}
}

// The reasons for trials that this machine can run but that were not tried.
const (
	noTime      = "did not fit into the budget"
	interrupted = "interrupted"
	tooSlow     = "the driver did not start in time in another scenario: --start-timeout"
)

// Run runs the trials in parallel until one trial gets objects of another one. From then on it runs
// one at a time, and repeats those that failed in parallel. If a trial with several faults has
// failed, each fault becomes a trial. Trials begin in the order that a budget needs; the outcomes
// are in the order of the trials. The error reports the end of ctx.
func Run(ctx context.Context, trials []*Trial, o RunOptions) ([]Outcome, error) {
	r := &running{options: o, began: time.Now(), trials: trials, outcomes: make([]Outcome, len(trials)), planned: len(runnable(trials))}
	r.waiting = order(trials)
	r.work(ctx, max(1, o.Parallel))
	if r.shared != nil && o.Parallel > 1 {
		r.repeatDisturbed()
		r.work(ctx, 1)
	}
	outcomes := r.outcomes
	var err error
	if ctx.Err() == nil {
		outcomes, err = r.split(ctx)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return outcomes, err
}

// work runs the waiting trials, at most parallel of them at once.
func (r *running) work(ctx context.Context, parallel int) {
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for {
				i, t := r.take(parallel)
				switch {
				case t == nil:
					return
				case !t.Runs():
					r.end(i, Outcome{Trial: t})
				case ctx.Err() != nil:
					r.end(i, Outcome{Trial: t.without(Interrupt, interrupted)})
				case r.isTooSlow():
					r.end(i, Outcome{Trial: t.without(Slow, tooSlow)})
				case r.options.Budget > 0 && r.spent() > r.options.Budget:
					r.end(i, Outcome{Trial: t.without(Budget, noTime)})
				default:
					r.end(i, r.try(ctx, t))
				}
			}
		})
	}
	workers.Wait()
}

func (r *running) isTooSlow() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.slow
}

// spent returns the wall time that counts for the budget, without the time for which trials waited
// for the driver.
func (r *running) spent() time.Duration {
	spent := time.Since(r.began)
	if r.options.Experience != nil {
		spent -= unfinished.Total(r.options.Experience.Waits()) / time.Duration(max(1, r.options.Parallel))
	}
	return spent
}

// repeatDisturbed reschedules trials that failed in parallel with others.
func (r *running) repeatDisturbed() {
	var again []int
	for i, o := range r.outcomes {
		if o.Trial != nil && o.Failed() {
			again = append(again, i)
			r.ended--
			r.failed--
		}
	}
	r.shared.Again = len(again)
	r.waiting = append(again, r.waiting...)
	if r.options.Disturbed != nil {
		r.options.Disturbed(r.shared)
	}
}

// runnable returns the trials that can be run.
func runnable(trials []*Trial) (found []*Trial) {
	for _, t := range trials {
		if t.Runs() {
			found = append(found, t)
		}
	}
	return found
}

// running is the state that the workers share.
type running struct {
	options  RunOptions
	planned  int
	began    time.Time
	trials   []*Trial
	lock     sync.Mutex
	waiting  []int // those that have not started
	meeting  meeting
	shared   *Shared // nil until a trial gets objects of another trial
	slow     bool    // the driver did not start in time in a trial: no further trial starts
	ended    int
	failed   int
	names    []string // of the trials that run
	outcomes []Outcome
}

// take returns the next trial; nil if there is no further trial, or if parallel trials disturb each
// other.
func (r *running) take(parallel int) (int, *Trial) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.waiting) == 0 || r.shared != nil && parallel > 1 {
		return 0, nil
	}
	next := r.waiting[0]
	r.waiting = r.waiting[1:]
	t := r.trials[next]
	if t.Runs() {
		r.names = append(r.names, t.Name())
		r.report()
	}
	return next, t
}

func (r *running) end(i int, o Outcome) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.outcomes[i] = o
	if o.Runs() {
		r.ended++
	}
	if o.Failed() {
		r.failed++
	}
	r.slow = r.slow || errors.Is(o.Err, program.ErrTooSlow)
	if o.Result != nil && r.shared == nil {
		r.shared = r.meeting.enter(o.Name(), o.Result)
	}
	for at, name := range r.names {
		if name == o.Name() {
			r.names = append(r.names[:at:at], r.names[at+1:]...)
			break
		}
	}
	r.report()
}

func (r *running) report() {
	if r.options.Progress != nil {
		r.options.Progress(Progress{Ended: r.ended, Planned: r.planned, Failed: r.failed, Running: r.names})
	}
}

func (r *running) try(ctx context.Context, t *Trial) Outcome {
	outcome := Outcome{Trial: t}
	options := r.options.scenarioOptions()
	if r.options.Logs != "" {
		outcome.Logs = filepath.Join(r.options.Logs, t.Group+"-"+t.Title)
		options.DriverLogs = outcome.Logs
	}
	s, err := t.Scenario()
	if err != nil {
		outcome.Err = err
		return outcome
	}
	outcome.Result, outcome.Err = scenario.Run(ctx, s, options)
	if outcome.Failed() && outcome.Result != nil {
		if untried := t.BeyondMachine(outcome.Result); untried != nil {
			return Outcome{Trial: untried}
		}
	}
	if ctx.Err() != nil && outcome.Failed() {
		// The interrupt caused its findings.
		return Outcome{Trial: t.without(Interrupt, interrupted)}
	}
	return outcome
}

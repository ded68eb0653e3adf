package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Options are the options of a search.
type Options struct {
	// Strategy is one of Strategies.
	Strategy string
	// Seed is the seed of the first run with the strategy. The following runs use the next seeds.
	Seed uint64
	// Alone leaves out the runs with a single fault in the calm order.
	Alone bool
	// Pairs leaves them out, too. Every second run then has two faults in the calm order, and the
	// others use the strategy. Strategies that learn, or that make every run, do not support pairs.
	Pairs bool
	// Runs bounds the runs; 0 means no limit.
	Runs int
	// Time bounds the wall time of the search; 0 means no limit.
	Time time.Duration
	// Budget bounds the faults of a run.
	Budget int
	// Deviations bounds the deviations from the calm run, besides faults, in a run with the
	// strategy Exhaustive.
	Deviations int
	// Unreduced makes the strategy Exhaustive run all orders, even if they differ only in steps
	// without shared data. Default: one run for all such orders.
	Unreduced bool
	// Shard i of Shards executes every Shards-th run, starting at run i. Default: the only one.
	Shard, Shards int
	// Before is the number of earlier runs, and Kept are the earlier runs that a learning strategy
	// has kept.
	Before int
	Kept   [][]Choice
	// Jobs is the number of simultaneous runs.
	Jobs int
	// Elsewhere connects to a Maker in another process, which receives the setup; it is called once
	// for each job. The strategy Exhaustive ignores it. Default: all runs are made in this process.
	Elsewhere func(setup []byte) (Elsewhere, error)
	// Repeats is the number of times that the run of a finding is repeated after it is shrunk.
	// Default: never.
	Repeats int
	// Progress is called after every run. Default: not called.
	Progress func(*Search)
}

// Search is a search with its findings so far.
type Search struct {
	// Runs counts the runs that have ended.
	Runs int
	// Findings are in the order in which the runs show them.
	Findings []*Finding
	// Sample is the comparison of runs that were made twice, if the subject is a Comparer.
	Sample Sample
	// Elapsed is the wall time of these runs.
	Elapsed time.Duration

	options Options
	fresh   func() (Subject, error)
	subject Subject // subject of the calm run, and of shrinking
	stacks  kernel.Stacks
	plan    *plan

	states   map[string]bool
	happened map[Choice]bool // the faults of plan.possible that have happened
}

// Of searches a subject that passes in a calm run. When ctx ends, it returns the findings so far.
// The error is for a run that could not be made.
func Of(ctx context.Context, fresh func() (Subject, error), o Options) (*Search, error) {
	began := time.Now()
	o.Shards, o.Jobs = max(o.Shards, 1), max(o.Jobs, 1)
	s := &Search{options: o, fresh: fresh, states: map[string]bool{}, happened: map[Choice]bool{}}
	defer s.stacks.Close()
	var err error
	if s.subject, err = fresh(); err != nil {
		return s, err
	}
	counted := &counting{names: newNamed()}
	if _, err := s.subject.Run(ctx, counted, &s.stacks); err != nil {
		return s, err
	}
	s.plan = newPlan(o, counted.all())
	err = s.all(ctx, began)
	s.finish(ctx) // even after an error: the previous findings count
	return s, err
}

// Made returns the number of runs that the search has made, including earlier ones.
func (s *Search) Made() int { return s.options.Before + max(0, s.Runs-len(s.plan.again)) }

// Kept returns the runs that a learning strategy has kept; nothing for other strategies.
func (s *Search) Kept() [][]Choice {
	if s.plan == nil || s.plan.guide == nil {
		return nil
	}
	return s.plan.guide.choices()
}

// States returns the number of abstract states that the runs have reached.
func (s *Search) States() int { return len(s.states) }

// Coverage returns how many faults are possible in the calm run, and how many of them have happened
// in some run.
func (s *Search) Coverage() (happened, all int) {
	if s.plan == nil {
		return 0, 0
	}
	return len(s.happened), len(s.plan.possible)
}

// Complete reports whether a search with the strategy Exhaustive has made every run within its
// bounds.
func (s *Search) Complete() bool {
	return s.plan != nil && s.plan.enumeration != nil && s.plan.enumeration.complete()
}

// LeftOut returns the number of runs that the strategy Exhaustive has left out. Each of them is
// equivalent to a run that was made.
func (s *Search) LeftOut() int {
	if s.plan == nil || s.plan.enumeration == nil {
		return 0
	}
	return s.plan.enumeration.leftOut()
}

// ended is a run that has ended, counted from 0.
type ended struct {
	run    uint64
	course course
	made
	err error
}

// all makes the runs, several at once, and evaluates them in order.
func (s *Search) all(ctx context.Context, began time.Time) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	drawing := working // runs that are not drawn when the time is over never begin
	if s.options.Time > 0 {
		var timeout context.CancelFunc
		drawing, timeout = context.WithDeadline(working, began.Add(s.options.Time))
		defer timeout()
	}
	makers, err := s.makers()
	defer closeAll(makers)
	if err != nil {
		return err
	}
	results := make(chan ended, 16*s.options.Jobs)
	var next atomic.Uint64
	var workers sync.WaitGroup
	for _, m := range makers {
		workers.Go(func() { s.work(working, drawing, m, &next, results) })
	}
	go func() { workers.Wait(); close(results) }()
	err = s.collect(ctx, began, results)
	cancel()
	for range results { // so that workers never wait
	}
	return err
}

func (s *Search) work(ctx, drawing context.Context, m maker, next *atomic.Uint64, results chan<- ended) {
	for {
		e := ended{run: next.Add(1) - 1}
		if s.options.Runs > 0 && e.run >= uint64(s.options.Runs) {
			return
		}
		if e.course = s.plan.of(drawing, e.run); drawing.Err() != nil || e.course.none {
			return
		}
		e.made, e.err = m.make(ctx, e.run, e.course)
		results <- e
		if e.err != nil {
			return
		}
	}
}

// collect evaluates the runs in order, so that the findings do not depend on the number of workers.
func (s *Search) collect(ctx context.Context, began time.Time, results <-chan ended) error {
	waiting := map[uint64]ended{}
	for e := range results {
		waiting[e.run] = e
		for {
			e, ok := waiting[uint64(s.Runs)]
			if !ok {
				break
			}
			delete(waiting, e.run)
			if ctx.Err() != nil {
				return nil // the outcome of an interrupted run does not count
			}
			if e.err != nil {
				return fmt.Errorf("run %d (%s): %w", e.run+1, s.plan.name(e.course), e.err)
			}
			s.Runs++
			s.reach(e)
			s.Sample.take(&e, s.plan.name(e.course))
			if s.plan.enumeration != nil {
				s.plan.enumeration.learn(e.enumerated, Bounds{s.options.Budget, s.options.Deviations})
			}
			if s.plan.guide != nil {
				s.plan.guide.learn(e.course.mutation(), e.Points, e.States)
			}
			if err := s.enter(ctx, e); err != nil && ctx.Err() == nil {
				return err
			}
			s.Elapsed = time.Since(began)
			if s.options.Progress != nil {
				s.options.Progress(s)
			}
		}
	}
	return nil
}

// reach records the states of a run and the faults in it.
func (s *Search) reach(e ended) {
	for _, state := range e.States {
		s.states[state] = true
	}
	for _, c := range e.Happened {
		if s.plan.possible[c] {
			s.happened[c] = true
		}
	}
}

// enter adds a failed run to its finding.
func (s *Search) enter(ctx context.Context, e ended) error {
	if e.Shown.Name == "" {
		return nil
	}
	i := slices.IndexFunc(s.Findings, func(f *Finding) bool { return f.Name == e.Shown.Name })
	if i >= 0 {
		return s.again(ctx, s.Findings[i], e.course)
	}
	f, err := s.example(ctx, e.course, e.Shown)
	if err == nil {
		s.Findings = append(s.Findings, f)
	}
	return err
}

// finish shrinks findings that are still long, and measures how often the shrunk runs show them.
func (s *Search) finish(ctx context.Context) {
	for _, f := range s.Findings {
		if !f.shrinking.isShort() {
			f.shrinking.trials = 0
			f.shrinking.halve()
		}
		f.Choices = f.shrinking.best
		s.repeat(ctx, f)
	}
}

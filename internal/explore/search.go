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

// Options say how a subject is searched.
type Options struct {
	// Strategy is one of Strategies.
	Strategy string
	// Seed is that of the first run with the strategy; the others follow.
	Seed uint64
	// Alone leaves out the runs with a single fault in the calm order.
	Alone bool
	// Pairs leaves them out, too: every second run has two faults in the calm order, the others have
	// the strategy. A strategy that learns, or makes every run, has no pairs.
	Pairs bool
	// Runs is how many runs there are at most; 0 is no limit.
	Runs int
	// Time is how long the search may take, in wall time; 0 is no limit.
	Time time.Duration
	// Budget is how many faults a run may have.
	Budget int
	// Deviations is how many decisions, other than faults, a run of the strategy Exhaustive may take otherwise than the calm run.
	Deviations int
	// Unreduced has it make runs, too, whose orders differ only in steps that share nothing. Default: one run for all such orders.
	Unreduced bool
	// Shard is which of the Shards of the search this is, from 0: each makes every so-manieth run. Default: the only one.
	Shard, Shards int
	// Before is how many runs were made before, and Kept what they have kept for a strategy that learns.
	Before int
	Kept   [][]Choice
	// Jobs is how many runs there are at once.
	Jobs int
	// Elsewhere opens the way to a Maker in another process, which is given what it needs to know; it is called once for each job. The
	// strategy Exhaustive does not use it. Default: all runs are made in this process.
	Elsewhere func(setup []byte) (Elsewhere, error)
	// Repeats is how many times the run of a finding is made again when it is shrunk. Default: never.
	Repeats int
	// Progress is called after every run. Default: not called.
	Progress func(*Search)
}

// Search is a search, and what it has found so far.
type Search struct {
	// Runs is how many runs have ended.
	Runs int
	// Findings are in the order in which the runs show them.
	Findings []*Finding
	// Sample says whether runs that were made again were alike, of a subject that is a Comparer.
	Sample Sample
	// Elapsed is the wall time that they took.
	Elapsed time.Duration

	options Options
	fresh   func() (Subject, error)
	subject Subject // of the calm run, and to shrink
	stacks  kernel.Stacks
	plan    *plan

	states   map[string]bool
	happened map[Choice]bool // those of plan.possible that have
}

// Of searches a subject, which passes in a calm run. When ctx ends it returns what was found; the error is for a run that
// could not be made.
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
	s.finish(ctx) // what was found before a run could not be made was found
	return s, err
}

// Made is how many runs the search has made, with those before it, and Kept what a strategy that learns has kept of them.
func (s *Search) Made() int { return s.options.Before + max(0, s.Runs-len(s.plan.again)) }

// Kept is what a strategy that learns has kept of the runs; nothing for others.
func (s *Search) Kept() [][]Choice {
	if s.plan == nil || s.plan.guide == nil {
		return nil
	}
	return s.plan.guide.choices()
}

// States is how many abstract states the runs have reached.
func (s *Search) States() int { return len(s.states) }

// Coverage is how many of the faults that can happen in the calm run have happened in some run, and how many there are.
func (s *Search) Coverage() (happened, all int) {
	if s.plan == nil {
		return 0, 0
	}
	return len(s.happened), len(s.plan.possible)
}

// Complete reports whether a search with the strategy Exhaustive has made every run within its bounds.
func (s *Search) Complete() bool {
	return s.plan != nil && s.plan.enumeration != nil && s.plan.enumeration.complete()
}

// Twins is how many runs the strategy Exhaustive has left out, since each comes to the same as one that was made.
func (s *Search) Twins() int {
	if s.plan == nil || s.plan.enumeration == nil {
		return 0
	}
	return s.plan.enumeration.leftOut()
}

// ended is one run, counted from 0.
type ended struct {
	run    uint64
	course course
	made
	err error
}

// all makes the runs, several at once, and looks at them in their order.
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
	for range results { // so that no worker waits
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

// collect looks at the runs in their order, so that as many workers as there are find the same.
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
				return nil // what an interrupt cut short shows nothing
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

// reach takes notice of how far a run has come.
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

// enter puts a run that failed to its finding.
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

// finish shrinks what is long still, and measures how often what is left shows the finding.
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

package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Options say how a scenario is searched.
type Options struct {
	// Strategy is one of Strategies.
	Strategy string
	// Seed is that of the first run; the others follow.
	Seed uint64
	// Runs is how many runs there are at most; 0 is no limit.
	Runs int
	// Time is how long the search may take, in wall time; 0 is no limit.
	Time time.Duration
	// Space is which faults may happen.
	Space fault.Space
	// Jobs is how many runs there are at once.
	Jobs int
	// Progress is called after every run, and when a finding has been shrunk.
	Progress func(*Search)
}

// Search is a search of one scenario, and what it has found so far.
type Search struct {
	// Calm is the run without faults; the search has not begun if it failed.
	Calm *scenario.Result
	// Runs is how many runs have ended.
	Runs int
	// Findings are in the order in which the seeds show them.
	Findings []*Finding
	// Elapsed is the wall time that they took.
	Elapsed time.Duration

	options Options
	file    string
	text    []byte
	subject *subject // of the calm run, and to shrink
	known   known
}

// Of searches the scenario of a file with this text. When ctx ends it returns what was found;
// the error is for a run that could not be made.
func Of(ctx context.Context, file string, text []byte, o Options) (*Search, error) {
	began := time.Now()
	subject, err := newSubject(file, text, o.Space)
	if err != nil {
		return nil, err
	}
	s := &Search{options: o, file: file, text: text, subject: subject}
	s.Calm, s.known, err = subject.calm(ctx)
	if err != nil || s.Calm.Exit != scenario.Passed {
		return s, err
	}
	if err := s.all(ctx, began); err != nil {
		return s, err
	}
	s.finish()
	return s, nil
}

func (s *Search) strategy(seed uint64) kernel.Strategy {
	return newStrategy(s.options.Strategy, seed, s.known, s.options.Space.Budget)
}

// ended is one run: of the seed that is so many after the first.
type ended struct {
	after uint64
	err   error
	// name and verdict are of what the run shows first; empty if it passed.
	name, verdict string
}

// show keeps what a run shows first.
func (e *ended) show(result *scenario.Result) {
	if shown := check.Shown(result); len(shown) > 0 {
		e.name, e.verdict = nameOf(shown[0], result), shown[0].Verdict
	}
}

// all makes the runs, several at once, and looks at them in the order of their seeds.
func (s *Search) all(ctx context.Context, began time.Time) error {
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan ended, 16*s.options.Jobs)
	var next atomic.Uint64
	over := func() bool {
		return working.Err() != nil || (s.options.Time > 0 && time.Since(began) >= s.options.Time)
	}
	var workers sync.WaitGroup
	for range s.options.Jobs {
		workers.Go(func() { s.work(working, &next, over, results) })
	}
	go func() { workers.Wait(); close(results) }()
	err := s.collect(ctx, began, results)
	cancel()
	for range results { // workers must not wait for somebody to look
	}
	return err
}

func (s *Search) work(ctx context.Context, next *atomic.Uint64, over func() bool, results chan<- ended) {
	subject, err := newSubject(s.file, s.text, s.options.Space)
	for err == nil && !over() {
		after := next.Add(1) - 1
		if s.options.Runs > 0 && after >= uint64(s.options.Runs) {
			return
		}
		e := ended{after: after}
		var result *scenario.Result
		if result, err = subject.run(ctx, s.strategy(s.options.Seed+after)); err == nil {
			e.show(result)
		}
		e.err = err
		results <- e
	}
}

// collect looks at the runs in the order of their seeds, so that as many workers as there are find the same.
func (s *Search) collect(ctx context.Context, began time.Time, results <-chan ended) error {
	waiting := map[uint64]ended{}
	for e := range results {
		waiting[e.after] = e
		for {
			e, ok := waiting[uint64(s.Runs)]
			if !ok {
				break
			}
			delete(waiting, e.after)
			if ctx.Err() != nil {
				return nil // what an interrupt cut short shows nothing
			}
			if e.err != nil {
				return fmt.Errorf("seed %d: %w", s.options.Seed+e.after, e.err)
			}
			s.Runs++
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

// enter puts a run that failed to its finding.
func (s *Search) enter(ctx context.Context, e ended) error {
	if e.name == "" {
		return nil
	}
	seed := s.options.Seed + e.after
	i := slices.IndexFunc(s.Findings, func(f *Finding) bool { return f.Name == e.name })
	if i >= 0 {
		return s.again(ctx, s.Findings[i], seed)
	}
	f, err := s.example(ctx, seed, e.name, e.verdict)
	if err == nil {
		s.Findings = append(s.Findings, f)
	}
	return err
}

// finish shrinks what is long still, and puts the forms of one defect together.
func (s *Search) finish() {
	for _, f := range s.Findings {
		if !f.shrinking.isShort() && !s.sweep(f) {
			f.shrinking.halve()
		}
		f.Choices = f.shrinking.best
	}
	s.Findings = unite(s.Findings)
}

// sweep looks for a single fault in the calm order that shows a finding which took a whole order of processes.
func (s *Search) sweep(f *Finding) bool {
	for _, at := range s.known.faults {
		for _, alternative := range s.subject.space.Alternatives() {
			at.Takes = alternative.Name
			if taken, ok := f.shrinking.try([]Choice{at}); ok {
				f.shrinking.best, f.Swept = taken, true
				return true
			}
		}
	}
	return false
}

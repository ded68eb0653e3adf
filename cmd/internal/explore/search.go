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
	// Seed is that of the first run with the strategy; the others follow.
	Seed uint64
	// Alone leaves out the runs with a single fault in the calm order.
	Alone bool
	// Runs is how many runs there are at most; 0 is no limit.
	Runs int
	// Time is how long the search may take, in wall time; 0 is no limit.
	Time time.Duration
	// Space is which faults may happen.
	Space fault.Space
	// Shard is which of the Shards of the search this is, from 0: each makes every so-manieth run. Default: the only one.
	Shard, Shards int
	// Corpus is a directory that says how far the search has come before, and that keeps how far it comes now. Default: none.
	Corpus string
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
	// Findings are in the order in which the runs show them.
	Findings []*Finding
	// Elapsed is the wall time that they took.
	Elapsed time.Duration

	options Options
	file    string
	text    []byte
	subject *subject // of the calm run, and to shrink
	plan    *plan
	corpus  *Corpus
}

// Of searches the scenario of a file with this text. When ctx ends it returns what was found;
// the error is for a run that could not be made.
func Of(ctx context.Context, file string, text []byte, o Options) (*Search, error) {
	began := time.Now()
	o.Shards = max(o.Shards, 1)
	subject, err := newSubject(file, text, o.Space)
	if err != nil {
		return nil, err
	}
	s := &Search{options: o, file: file, text: text, subject: subject, corpus: corpusOf(file, text, o)}
	if o.Corpus != "" {
		if err := s.corpus.read(o.Corpus); err != nil {
			return nil, err
		}
	}
	var calm known
	s.Calm, calm, err = subject.calm(ctx)
	if err != nil || s.Calm.Exit != scenario.Passed {
		return s, err
	}
	s.plan = newPlan(o, calm, s.corpus)
	if err := s.all(ctx, began); err != nil {
		return s, err
	}
	s.finish()
	return s, s.keepCorpus()
}

// keepCorpus writes how far the search has come.
func (s *Search) keepCorpus() error {
	if s.options.Corpus == "" {
		return nil
	}
	s.corpus.Runs += max(0, s.Runs-len(s.plan.again))
	if s.plan.guide != nil {
		s.corpus.Kept = s.plan.guide.choices()
	}
	return s.corpus.write(s.options.Corpus)
}

// Before is how many runs the search had made when it began this time.
func (s *Search) Before() int { return s.plan.from }

// ended is one run, counted from 0.
type ended struct {
	run    uint64
	course course
	err    error
	// name and verdict are of what the run shows first; empty if it passed.
	name, verdict string
	// points and states are what a guide learns of.
	points []point
	states []string
}

// show keeps what a run shows first.
func (e *ended) show(result *scenario.Result) {
	if shown := check.Shown(result); len(shown) > 0 {
		e.name, e.verdict = nameOf(shown[0], result), shown[0].Verdict
	}
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
	results := make(chan ended, 16*s.options.Jobs)
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range s.options.Jobs {
		workers.Go(func() { s.work(working, drawing, &next, results) })
	}
	go func() { workers.Wait(); close(results) }()
	err := s.collect(ctx, began, results)
	cancel()
	for range results { // workers must not wait for somebody to look
	}
	return err
}

func (s *Search) work(ctx, drawing context.Context, next *atomic.Uint64, results chan<- ended) {
	subject, err := newSubject(s.file, s.text, s.options.Space)
	for err == nil {
		e := ended{run: next.Add(1) - 1}
		if s.options.Runs > 0 && e.run >= uint64(s.options.Runs) {
			return
		}
		if e.course = s.plan.of(drawing, e.run); drawing.Err() != nil {
			return
		}
		strategy := s.plan.strategy(e.course)
		var result *scenario.Result
		if result, err = subject.run(ctx, strategy); err == nil {
			e.show(result)
			e.note(strategy, result)
		}
		e.err = err
		results <- e
	}
}

// note keeps what a guide learns of a run.
func (e *ended) note(strategy kernel.Strategy, result *scenario.Result) {
	if s, ok := strategy.(*steered); ok && e.name == "" {
		e.points, e.states = s.points(), statesOf(result.Trace)
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
			if s.plan.guide != nil {
				s.plan.guide.learn(e.course.faults, e.points, e.states)
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

// enter puts a run that failed to its finding.
func (s *Search) enter(ctx context.Context, e ended) error {
	if e.name == "" {
		return nil
	}
	i := slices.IndexFunc(s.Findings, func(f *Finding) bool { return f.Name == e.name })
	if i >= 0 {
		return s.again(ctx, s.Findings[i], e.course)
	}
	f, err := s.example(ctx, e.course, e.name, e.verdict)
	if err == nil {
		s.Findings = append(s.Findings, f)
	}
	return err
}

// finish shrinks what is long still, and puts the forms of one defect together.
func (s *Search) finish() {
	for _, f := range s.Findings {
		if !f.shrinking.isShort() {
			f.shrinking.trials = 0
			f.shrinking.halve()
		}
		f.Choices = f.shrinking.best
	}
	s.Findings = unite(s.Findings)
}

package explore

import (
	"context"
	"errors"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Options are the options of a search of a scenario.
type Options struct {
	// Strategy, Seed, Alone, Pairs, Runs, Time, Deviations, Shard, Shards and Jobs are the options
	// of every search.
	Strategy      string
	Seed          uint64
	Alone, Pairs  bool
	Runs          int
	Time          time.Duration
	Deviations    int
	Shard, Shards int
	Jobs          int
	// Space is the set of faults that may happen.
	Space fault.Space
	// Run holds the options of each run, except its strategy and its faults.
	Run scenario.RunOptions
	// Processes makes runs with driver programs in child processes of this program, one on each
	// processor. In a child process MakesRuns returns true, and the program must call Serve. Child
	// processes use these fields of Run: WorkDir, Isolation, Patience, WaitForDriver, HostPaths and
	// Strict. Default: all runs are made in this process.
	Processes bool
	// Corpus is a directory with the progress of the search, so that a later search can continue
	// it. Default: none.
	Corpus string
	// Progress is called after every run, and when a finding has been shrunk.
	Progress func(*Search)
}

// Search is a search of one scenario with its findings so far.
type Search struct {
	// Calm is the run without faults. If it failed, the search has not begun.
	Calm *scenario.Result
	// Runs counts the runs that have ended.
	Runs int
	// Findings are in the order in which the runs show them.
	Findings []*Finding
	// States is the number of abstract states that the runs have reached.
	States int
	// Possible faults are the faults of the calm run, and Happened counts those that have happened.
	Happened, Possible int
	// Complete is set if the strategy exhaustive has made every run within its bounds.
	Complete bool
	// LeftOut counts the runs that the strategy exhaustive has left out. Each of them is equivalent
	// to a run that was made.
	LeftOut int
	// Sample is the comparison of runs that were made twice.
	Sample explore.Sample
	// Elapsed is the wall time of these runs.
	Elapsed time.Duration

	options Options
	file    string
	text    []byte
	subject *subject // of the calm run
	corpus  *Corpus
	before  int // runs of the corpus
	met     met
	usage   usage
}

// Of searches the scenario that a file with this text describes. When ctx ends, it returns the
// findings so far. The error is for a run that could not be made. The search then ends with the
// previous findings.
func Of(ctx context.Context, file string, text []byte, o Options) (*Search, error) {
	o.Shards = max(o.Shards, 1)
	if o.Runs > 0 {
		o.Jobs = min(o.Jobs, o.Runs)
	}
	began := time.Now()
	subject, err := newSubject(file, text, o)
	if err != nil {
		return nil, err
	}
	s := &Search{options: o, file: file, text: text, subject: subject, corpus: corpusOf(file, text, o)}
	s.met.statements = subject.scenario.Sometimes
	subject.notice = s.notice
	if o.Corpus != "" {
		if err := s.corpus.read(o.Corpus); err != nil {
			return nil, err
		}
	}
	s.before = s.corpus.Runs
	s.Calm, err = subject.run(ctx, kernel.Calm{}, nil)
	if err != nil || s.Calm.Exit != scenario.Passed {
		return s, err
	}
	memory, err := s.place()
	if err != nil {
		return nil, err
	}
	if memory != nil {
		s.options.Run.WorkDir = memory.Path()
		err = s.all(ctx, began)
		return s, errors.Join(err, memory.Close())
	}
	return s, s.all(ctx, began)
}

// repeats is the number of times that the run of a finding is repeated, because a driver program
// may behave randomly.
const repeats = 5

// all makes the runs, and stores their findings.
func (s *Search) all(ctx context.Context, began time.Time) error {
	o := s.options
	left := o.Time
	if left > 0 {
		left = max(left-time.Since(began), 1)
	}
	processes, err := s.startProcesses()
	if err != nil {
		return err
	}
	defer processes.close()
	found, err := explore.Of(ctx, s.fresh, explore.Options{
		Strategy: o.Strategy, Seed: o.Seed, Alone: o.Alone, Pairs: o.Pairs, Runs: o.Runs, Time: left, Shard: o.Shard, Shards: o.Shards,
		Jobs: o.Jobs, Repeats: repeats, Budget: o.Space.Budget, Deviations: o.Deviations, Before: s.corpus.Runs, Kept: s.corpus.Kept,
		Elsewhere: s.elsewhere(processes),
		Progress: func(at *explore.Search) {
			s.take(at, began)
			if o.Progress != nil {
				o.Progress(s)
			}
		},
	})
	s.take(found, began)
	s.Findings = unite(s.Findings)
	for _, f := range s.Findings {
		s.reduce(ctx, f)
		f.explain()
		s.judgeEnd(ctx, f)
		s.waitLonger(ctx, f)
	}
	return errors.Join(err, s.keepCorpus(found))
}

// fresh returns the scenario for one more worker.
func (s *Search) fresh() (explore.Subject, error) {
	subject, err := newSubject(s.file, s.text, s.options)
	subject.notice = s.notice
	return subject, err
}

// notice adds the data of a run.
func (s *Search) notice(n noticed) {
	s.met.add(n.Sometimes)
	s.usage.add(n.Usage)
}

// Never lists the statements of the scenario's sometimes that were true in no run.
func (s *Search) Never() []string { return s.met.never() }

// take copies the findings so far.
func (s *Search) take(at *explore.Search, began time.Time) {
	s.Happened, s.Possible = at.Coverage()
	s.Runs, s.States, s.Complete, s.LeftOut, s.Elapsed, s.Findings = at.Runs, at.States(), at.Complete(), at.LeftOut(), time.Since(began), s.Findings[:0]
	s.Sample = at.Sample
	for _, f := range at.Findings {
		finding := &Finding{Finding: f}
		finding.complete(s.Calm)
		finding.Blame = finding.blame()
		s.Findings = append(s.Findings, finding)
	}
}

// keepCorpus writes the progress of the search.
func (s *Search) keepCorpus(found *explore.Search) error {
	if s.options.Corpus == "" {
		return nil
	}
	s.corpus.Runs = found.Made()
	if s.options.Strategy == explore.Guided {
		s.corpus.Kept = found.Kept()
	}
	return s.corpus.write(s.options.Corpus)
}

// Before returns the number of runs of earlier searches.
func (s *Search) Before() int { return s.before }

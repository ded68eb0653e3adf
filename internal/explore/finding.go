package explore

import (
	"context"
	"slices"
)

// Finding is a failure, and the choices that show it.
type Finding struct {
	Shown
	// Found names the run that was shrunk, such as "pct, seed 7". Runs counts the runs that show
	// the finding.
	Found string
	Runs  int
	// Choices are sufficient to show the finding. Before is the original run's number of choices
	// that were not calm.
	Choices []Choice
	Before  int
	// Repeats is the number of runs with just these choices, and Repeated the number of them that
	// showed the finding. The numbers are equal unless the subject has its own randomness.
	Repeated, Repeats int

	shrinking *shrinking
	examples  int // runs that were examined
}

// mostExamples bounds the runs of a finding that are examined in search of a run that is easy to
// shrink.
const mostExamples = 8

// example makes a finding from a run that shows it: it repeats the run, records its choices, and
// shrinks it if that takes few runs.
func (s *Search) example(ctx context.Context, c course, shown Shown) (*Finding, error) {
	f := &Finding{Shown: shown, Found: s.plan.name(c), Runs: 1, examples: 1}
	choices, err := s.show(ctx, c, f)
	if err != nil {
		return nil, err
	}
	f.Before = len(choices)
	f.shrinking = &shrinking{best: choices, try: func(fewer []Choice) ([]Choice, bool) {
		if ctx.Err() != nil {
			return nil, false
		}
		replay := NewReplay(fewer)
		outcome, err := s.subject.Run(ctx, replay, &s.stacks)
		return replay.taken, err == nil && f.keep(outcome)
	}}
	f.shrinking.simplify()
	f.Choices = f.shrinking.best
	return f, nil
}

// show makes the run of a course in this process and returns its choices, because a run that was
// made elsewhere returns only a verdict. If the subject has its own randomness, the run is repeated
// until it shows the finding.
func (s *Search) show(ctx context.Context, c course, f *Finding) (choices []Choice, err error) {
	for range 1 + s.options.Repeats {
		recording := NewRecording(s.plan.strategy(c))
		made, err := s.subject.Run(ctx, recording, &s.stacks)
		if err != nil {
			return nil, err
		}
		choices = recording.Choices
		if f.keep(made) || f.More != nil {
			return choices, nil
		}
	}
	return choices, nil
}

// keep stores the outcome of a run that shows the finding; it reports whether the run does.
func (f *Finding) keep(o Outcome) bool {
	i := slices.IndexFunc(o.Shown, func(s Shown) bool { return s.Name == f.Name })
	if i >= 0 {
		f.Shown = o.Shown[i]
	}
	return i >= 0
}

// again handles another run that shows the finding, which may be simpler.
func (s *Search) again(ctx context.Context, f *Finding, c course) error {
	f.Runs++
	if f.shrinking.isShort() || f.examples >= mostExamples {
		return nil
	}
	f.examples++
	other, err := s.example(ctx, c, f.Shown)
	if err == nil && len(other.Choices) < len(f.Choices) {
		other.Runs, other.examples = f.Runs, f.examples
		*f = *other
	}
	return err
}

// repeat repeats the shrunk run several times.
func (s *Search) repeat(ctx context.Context, f *Finding) {
	for range s.options.Repeats {
		outcome, err := s.subject.Run(ctx, NewReplay(f.Choices), &s.stacks)
		if err != nil {
			return
		}
		if f.keep(outcome) {
			f.Repeated++
		}
		f.Repeats++
	}
}

// ByChance reports whether the same choices do not always show the finding.
func (f *Finding) ByChance() bool { return f.Repeated < f.Repeats }

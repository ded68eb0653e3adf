package explore

import (
	"context"
	"slices"
)

// Finding is one thing that is wrong, and the choices that show it.
type Finding struct {
	Shown
	// Found is the run that was shrunk, such as "pct, seed 7"; Runs is how many runs show it.
	Found string
	Runs  int
	// Choices are enough to show it, of so many that were not calm Before.
	Choices []Choice
	Before  int
	// Repeated of so many Repeats, runs with just these choices, show it: all of them, unless the subject has chances of its own.
	Repeated, Repeats int

	shrinking *shrinking
	examples  int // runs that were looked at
}

// mostExamples is how many runs with the same finding are looked at for one that is easy to shrink.
const mostExamples = 8

// example makes a finding of a run that shows it: it repeats the run, keeps its choices, and leaves out
// what is easy to leave out.
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

// show makes the run of a course in this process, and returns its choices. One that was made elsewhere has shown no more than a verdict:
// if the subject has chances of its own, it is made some times until it shows the finding.
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

// keep keeps how a run shows the finding; it reports whether it does.
func (f *Finding) keep(o Outcome) bool {
	i := slices.IndexFunc(o.Shown, func(s Shown) bool { return s.Name == f.Name })
	if i >= 0 {
		f.Shown = o.Shown[i]
	}
	return i >= 0
}

// again takes notice of a further run that shows the finding: it may be simpler.
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

// repeat makes the shrunk run again, as long as it can be made.
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

// ByChance reports whether the same choices do not show the finding each time.
func (f *Finding) ByChance() bool { return f.Repeated < f.Repeats }

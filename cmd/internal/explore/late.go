package explore

import (
	"context"
	"slices"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// patience is the additional waiting time of a run that checks whether a condition is met late, or
// never.
const patience = time.Hour

// waitLonger repeats the shrunk run of a timeout with longer waits. It records the time until the
// condition is met, or the fact that it is never met.
func (s *Search) waitLonger(ctx context.Context, f *Finding) {
	if f.Blame != verdict.Kubernetes || !f.Is(verdict.Progress) {
		return
	}
	text, o := s.textOf(f), s.options
	o.Run.Longer = patience
	longer := s.again(ctx, f, text, o)
	if longer == nil {
		return
	}
	f.Never = Shows(longer, f.Name) != nil
	failed := -1 // no step has failed
	for i, step := range f.Result().Steps {
		switch {
		case step.State != scenario.StepFailed:
		case i < len(longer.Steps) && longer.Steps[i].State == scenario.StepPassed:
			f.Late = longer.Steps[i].Took
		default:
			f.Never, failed = true, i
		}
	}
	if f.Never {
		f.blameBy(longer)
	}
	if f.Never && f.Blame == verdict.Kubernetes {
		s.judgeWait(ctx, f, text, failed)
	}
}

// textOf returns the scenario to which a finding's choices apply: its smaller scenario, if there is
// one.
func (s *Search) textOf(f *Finding) string {
	if f.Scenario != nil {
		return string(f.Scenario)
	}
	return string(s.text)
}

// blameBy makes the driver responsible if the run with the longer wait blames it. Retries may need
// more time until they fail permanently.
func (f *Finding) blameBy(longer *scenario.Result) {
	shown := check.Shown(longer)
	ofDriver := func(other check.Finding) bool { return other.Name != f.Name && other.Blame() == verdict.Driver }
	if i := slices.IndexFunc(shown, ofDriver); i >= 0 {
		f.Blame, f.Hazards, f.Instead = verdict.Driver, nil, shown[i].Text
	}
}

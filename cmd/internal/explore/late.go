package explore

import (
	"context"
	"slices"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/invariant"
)

// patience is how much longer a run waits that is made to see whether something comes late, or never.
const patience = time.Hour

// waitLonger makes the shrunk run of what never came about again, and notes how long it takes, or that it never does.
func (s *Search) waitLonger(ctx context.Context, f *Finding) {
	text := s.text
	if f.Scenario != nil {
		text = f.Scenario
	}
	broken := brokenBy(f.Verdict)
	if f.Blame == invariant.Kubernetes && broken == invariant.AskedAgain {
		s.judgeEnd(ctx, f, string(text))
	}
	if f.Blame != invariant.Kubernetes || broken != invariant.Progress {
		return
	}
	o := s.options
	o.Run.Longer = patience
	subject, err := newSubject(s.file, text, o)
	if err != nil {
		return
	}
	replay := explore.NewReplay(f.Choices)
	longer, err := subject.run(ctx, replay, nil)
	if err != nil || replay.Unfit() != "" {
		return
	}
	f.Never = Shows(longer, f.Name) != nil
	failed := -1
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
	if f.Never && f.Blame == invariant.Kubernetes && failed >= 0 {
		s.judgeWait(ctx, f, string(text), failed)
	}
}

// blameBy blames the driver if the run that waited longer does: what is tried again and again may need more time to fail for good.
func (f *Finding) blameBy(longer *scenario.Result) {
	shown := check.Shown(longer)
	ofDriver := func(other check.Finding) bool { return other.Name != f.Name && other.Blame() == invariant.Driver }
	if i := slices.IndexFunc(shown, ofDriver); i >= 0 {
		f.Blame, f.Hazards, f.Instead = invariant.Driver, nil, shown[i].Verdict
	}
}

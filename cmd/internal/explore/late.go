package explore

import (
	"context"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/invariant"
)

// patience is how much longer a run waits that is made to see whether something comes late, or never.
const patience = time.Hour

// waitLonger makes the shrunk run of what never came about again, and notes how long it takes, or that it never does.
func (s *Search) waitLonger(ctx context.Context, f *Finding) {
	if f.Blame != invariant.Kubernetes || brokenBy(f.Verdict) != invariant.Progress {
		return
	}
	text := s.text
	if f.Scenario != nil {
		text = f.Scenario
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
	if f.Never = Shows(longer, f.Name) != nil; f.Never {
		return
	}
	for i, step := range f.Result().Steps {
		if step.State == scenario.StepFailed && i < len(longer.Steps) {
			f.Late = longer.Steps[i].Took
		}
	}
}

package explore

import (
	"cmp"
	"context"
	"strings"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// cut is the text of a scenario, cut before and after one of its steps.
type cut struct{ before, step, after string }

// cutAt cuts a scenario at a step, counted from 0. It returns false if the step does not begin on a
// new line.
func (s *Search) cutAt(text string, step int) (c cut, ok bool) {
	steps := stepsOf(s.file, text)
	if step < 0 || step >= len(steps) {
		return c, false
	}
	lines := strings.SplitAfter(text, "\n")
	join := func(from, to int) string { return strings.Join(lines[from:to], "") }
	at := steps[step]
	return cut{join(0, at.from), strings.TrimSuffix(join(at.from, at.to), "\n") + "\n", join(at.to, len(lines))}, true
}

// pause returns a step of ten minutes, with the same indentation.
func (c cut) pause() string {
	indent, _, _ := strings.Cut(c.step, "- ")
	return indent + "- advance: 10m\n"
}

// again repeats the run of a finding with a changed text of its scenario; nil if the choices do not
// fit this text.
func (s *Search) again(ctx context.Context, f *Finding, text string, o Options) *scenario.Result {
	subject, err := newSubject(s.file, []byte(text), o)
	if err != nil {
		return nil
	}
	replay := explore.NewReplay(f.Choices)
	result, err := subject.run(ctx, replay, nil)
	if err != nil || replay.Unfit() != "" {
		return nil
	}
	return result
}

// judgeWait decides whether the scenario is responsible for a wait that times out, if faults and
// other orders may legitimately skip the awaited state. The step is counted from 0.
func (s *Search) judgeWait(ctx context.Context, f *Finding, text string, step int) {
	c, ok := s.cutAt(text, step)
	if !ok {
		return
	}
	switch title := f.Result().Steps[step].Title; {
	case strings.HasPrefix(title, "wait call "), strings.HasPrefix(title, "wait event "):
		s.judgeRest(ctx, f, c.before+c.pause()+c.after)
	case strings.Contains(c.step, "that:"):
		// Phases and conditions are excluded: Kubernetes establishes them.
		if s.isPassing(ctx, c.before+c.step+c.pause()+c.step+c.after, step) {
			f.blameScenario()
		}
	}
}

// judgeRest replaces a wait for a call or an event by a pause of ten minutes, because calls and
// events are not the purpose of a scenario. The remaining failures then decide. If no failure
// remains, apart from other over-specific expectations, the run reached the end in another way, and
// the scenario is responsible.
func (s *Search) judgeRest(ctx context.Context, f *Finding, text string) {
	result := s.again(ctx, f, text, s.options)
	if result == nil {
		return
	}
	left := ""
	for _, other := range check.Shown(result) {
		switch blame := other.Blame(); {
		case blame == verdict.Kubernetes && !other.Is(verdict.Progress):
			left = cmp.Or(left, other.Text)
		case blame != verdict.Scenario:
			return
		}
	}
	if len(result.Litter) > 0 {
		left = cmp.Or(left, result.Litter[0])
	}
	if left == "" {
		f.blameScenario()
		return
	}
	f.Never, f.Left = false, left
}

// isPassing reports whether a step waits for a transient state, such as the error of a first
// attempt. In the calm run, such a wait times out if it starts two steps and ten minutes later.
func (s *Search) isPassing(ctx context.Context, text string, step int) bool {
	subject, err := newSubject(s.file, []byte(text), s.options)
	if err != nil {
		return false
	}
	calm, err := subject.run(ctx, kernel.Calm{}, nil)
	later := step + 2
	return err == nil && len(calm.Steps) > later && calm.Steps[later].State == scenario.StepFailed
}

// judgeEnd detects a scenario that ends before a component retries after a fault. If it continues
// for ten more minutes, it does not fail.
func (s *Search) judgeEnd(ctx context.Context, f *Finding) {
	if f.Blame != verdict.Kubernetes || !f.Is(verdict.AskedAgain) {
		return
	}
	text := s.textOf(f)
	c, ok := s.cutAt(text, len(stepsOf(s.file, text))-1)
	if !ok {
		return
	}
	if result := s.again(ctx, f, c.before+c.step+c.pause()+c.after, s.options); result != nil && result.Exit == scenario.Passed {
		f.blameScenario()
	}
}

// blameScenario marks the finding as an expectation that is too strict.
func (f *Finding) blameScenario() { f.Blame, f.Hazards, f.Never = verdict.Scenario, nil, false }

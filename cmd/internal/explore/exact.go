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

// cutAt cuts a scenario at a step, counted from 0; false if that does not stand on lines of its own.
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

// pause is a step beside that one, in which ten minutes pass.
func (c cut) pause() string {
	indent, _, _ := strings.Cut(c.step, "- ")
	return indent + "- advance: 10m\n"
}

// again makes the run of a finding once more, of another text of its scenario; nil if its choices do not fit that.
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

// judgeWait says whose doing it is that a step of a finding's scenario, counted from 0, waits in vain, if it waits for what faults and other orders
// may leave out.
func (s *Search) judgeWait(ctx context.Context, f *Finding, text string, step int) {
	c, ok := s.cutAt(text, step)
	if !ok {
		return
	}
	switch title := f.Result().Steps[step].Title; {
	case strings.HasPrefix(title, "wait call "), strings.HasPrefix(title, "wait event "):
		s.judgeRest(ctx, f, c.before+c.pause()+c.after)
	case strings.Contains(c.step, "that:"): // phases and conditions are what Kubernetes makes come about
		if s.isPassing(ctx, c.before+c.step+c.pause()+c.step+c.after, step) {
			f.blameScenario()
		}
	}
}

// judgeRest judges by all else that is wrong in the run of a finding, whose scenario lets ten minutes pass instead of waiting for a call or an event:
// both are means. Nothing is, but perhaps what else the scenario expects exactly, where what they are for comes about in another way, or is not needed.
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
	for _, note := range result.Notes {
		if strings.HasPrefix(note, "left behind: ") { // Kubernetes' own litter
			left = cmp.Or(left, note)
		}
	}
	if left == "" {
		f.blameScenario()
		return
	}
	f.Never, f.Left = false, left
}

// isPassing reports whether what a step waits for comes and goes by itself, such as the error of a first attempt: in the calm run the same wait
// is in vain two steps later, when ten minutes have passed.
func (s *Search) isPassing(ctx context.Context, text string, step int) bool {
	subject, err := newSubject(s.file, []byte(text), s.options)
	if err != nil {
		return false
	}
	calm, err := subject.run(ctx, kernel.Calm{}, nil)
	later := step + 2
	return err == nil && len(calm.Steps) > later && calm.Steps[later].State == scenario.StepFailed
}

// judgeEnd finds out whether a scenario ends before somebody whom a fault made fail tries again: with ten minutes more nothing is wrong then.
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

// blameScenario says that nothing is wrong: the scenario expects too much.
func (f *Finding) blameScenario() { f.Blame, f.Hazards, f.Never = verdict.Scenario, nil, false }

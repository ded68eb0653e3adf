package explore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/invariant"
	"github.com/csisim/csisim/internal/world/kernel"
)

// judgeWait says whose doing it is that a step of a finding's scenario, counted from 0, waits in vain, if it waits for what faults and other orders
// may leave out.
func (s *Search) judgeWait(ctx context.Context, f *Finding, text string, step int) {
	steps := stepsOf(s.file, text)
	if step >= len(steps) {
		return
	}
	lines := strings.SplitAfter(text, "\n")
	waits := strings.Join(lines[steps[step].from:steps[step].to], "")
	indent, _, _ := strings.Cut(waits, "- ")
	lets := indent + "- advance: 10m\n"
	switch title := f.Result().Steps[step].Title; {
	case strings.HasPrefix(title, "wait call "), strings.HasPrefix(title, "wait event "):
		instead := slices.Concat(lines[:steps[step].from], []string{lets}, lines[steps[step].to:])
		s.judgeRest(ctx, f, strings.Join(instead, ""))
	case strings.Contains(waits, "that:"): // phases and conditions are what Kubernetes makes come about
		again := slices.Concat(lines[:steps[step].to], []string{lets, waits}, lines[steps[step].to:])
		if s.isPassing(ctx, strings.Join(again, ""), step) {
			f.blameScenario()
		}
	}
}

// judgeRest judges by all else that is wrong in the run of a finding, whose scenario lets ten minutes pass instead of waiting for a call or an event:
// both are means. Nothing is, but perhaps what else the scenario expects exactly, where what they are for comes about in another way, or is not needed.
func (s *Search) judgeRest(ctx context.Context, f *Finding, text string) {
	subject, err := newSubject(s.file, []byte(text), s.options)
	if err != nil {
		return
	}
	replay := explore.NewReplay(f.Choices)
	result, err := subject.run(ctx, replay, nil)
	if err != nil || replay.Unfit() != "" {
		return
	}
	exact, known := true, ""
	for _, other := range check.Shown(result) {
		switch blame := other.Blame(); {
		case blame == invariant.Kubernetes && brokenBy(other.Verdict) != invariant.Progress:
			exact, known = false, cmp.Or(known, other.Verdict)
		case blame != invariant.Scenario:
			return
		}
	}
	for _, note := range result.Notes {
		if strings.HasPrefix(note, "left behind: ") { // Kubernetes' own litter
			exact, known = false, cmp.Or(known, note)
		}
	}
	if exact {
		f.blameScenario()
		return
	}
	f.Never, f.Instead = false, known
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

// judgeEnd finds out whether a scenario ends before somebody who has failed tries again: with ten minutes more nothing is wrong then.
func (s *Search) judgeEnd(ctx context.Context, f *Finding, text string) {
	steps := stepsOf(s.file, text)
	if len(steps) == 0 {
		return
	}
	lines := strings.SplitAfter(text, "\n")
	last := steps[len(steps)-1]
	indent, _, _ := strings.Cut(lines[last.from], "- ")
	longer := slices.Concat(lines[:last.to], []string{indent + "- advance: 10m\n"}, lines[last.to:])
	subject, err := newSubject(s.file, []byte(strings.Join(longer, "")), s.options)
	if err != nil {
		return
	}
	replay := explore.NewReplay(f.Choices)
	result, err := subject.run(ctx, replay, nil)
	if err == nil && replay.Unfit() == "" && result.Exit == scenario.Passed {
		f.blameScenario()
	}
}

// blameScenario says that nothing is wrong: the scenario expects too much.
func (f *Finding) blameScenario() { f.Blame, f.Hazards, f.Never = invariant.Scenario, nil, false }

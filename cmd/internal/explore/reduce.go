package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
)

// mostReductions bounds the scenarios that are tried for one finding.
const mostReductions = 60

// reduce removes steps, objects and nodes from the scenario of a finding. The rest must pass calmly
// and show the finding with the same choices.
func (s *Search) reduce(ctx context.Context, f *Finding) {
	r := &reduction{search: s, finding: f, text: string(s.text)}
	for r.removeAny(ctx) {
	}
	if !strings.Contains(r.text, "\ncluster") {
		r.attempt(ctx, strings.Replace(r.text, "\ndrivers:", "\ncluster: {nodes: 1}\n\ndrivers:", 1))
	}
	if r.text != string(s.text) {
		f.Scenario, f.Steps = []byte(r.text), len(stepsOf(s.file, r.text))
	}
}

// reduction is the scenario of a finding while it is reduced.
type reduction struct {
	search  *Search
	finding *Finding
	text    string
	trials  int
}

// removeAny removes each part that is not needed, starting with the last one. It reports whether it
// removed any.
func (r *reduction) removeAny(ctx context.Context) bool {
	removed := false
	for i := len(partsOf(r.search.file, r.text)) - 1; i >= 0; i-- {
		parts := partsOf(r.search.file, r.text)
		if i >= len(parts) {
			continue
		}
		lines := strings.SplitAfter(r.text, "\n")
		less := strings.Join(slices.Concat(lines[:parts[i].from], lines[parts[i].to:]), "")
		removed = r.attempt(ctx, less) || removed
	}
	return removed
}

// attempt keeps a smaller scenario if it still shows the finding.
func (r *reduction) attempt(ctx context.Context, text string) bool {
	if r.trials >= mostReductions || ctx.Err() != nil || text == r.text {
		return false
	}
	subject, err := newSubject(r.search.file, []byte(text), r.search.options)
	if err != nil {
		return false
	}
	r.trials++
	calm, err := subject.run(ctx, kernel.Calm{}, nil)
	if err != nil || calm.Exit != scenario.Passed {
		return false
	}
	for _, replay := range []*explore.Replay{explore.NewReplay(r.finding.Choices), explore.NewLooseReplay(r.finding.Choices)} {
		result, err := subject.run(ctx, replay, nil)
		if err == nil && replay.Unfit() == "" && Shows(result, r.finding.Name) != nil {
			r.text, r.finding.Choices = text, replay.Taken()
			r.finding.show(result)
			return true
		}
	}
	return false
}

// part is a range of lines of a scenario, counted from 0.
type part struct{ from, to int }

// partsOf returns the steps of a scenario. For steps with several objects, it returns all objects
// but the first.
func partsOf(file, text string) (parts []part) {
	lines := strings.SplitAfter(text, "\n")
	for _, step := range stepsOf(file, text) {
		parts = append(parts, step)
		for at := step.from; at < step.to; at++ {
			if strings.TrimSpace(lines[at]) != "---" {
				continue
			}
			end := at + 1
			for end < step.to && strings.TrimSpace(lines[end]) != "---" {
				end++
			}
			parts = append(parts, part{at, end})
		}
	}
	return parts
}

// stepsOf returns the lines of each step, if each step begins on its own line.
func stepsOf(file, text string) (steps []part) {
	s, err := scenario.Parse(file, []byte(text))
	if err != nil {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	for _, step := range s.Steps {
		from := step.Line - 1
		if !strings.HasPrefix(strings.TrimSpace(lines[from]), "- ") {
			return nil
		}
		to := from + 1
		for to < len(lines) && (strings.HasPrefix(lines[to], "  ") || strings.TrimSpace(lines[to]) == "") {
			to++
		}
		steps = append(steps, part{from, to})
	}
	return steps
}

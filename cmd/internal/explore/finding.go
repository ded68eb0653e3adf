package explore

import (
	"context"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// Finding is one thing that is wrong, and the choices that show it.
type Finding struct {
	// Name is the same in every run that shows it.
	Name string
	// Verdict is how the shrunk run shows it.
	Verdict string
	// Found is the run that was shrunk, such as "pct, seed 7"; Runs is how many runs show it.
	Found string
	Runs  int
	// Choices are enough to show it, of so many that were not calm Before.
	Choices []Choice
	Before  int
	// Blame is whose doing it is, and Story what happened in the shrunk run, in order.
	Blame check.Blame
	Story []*trace.Event

	shrinking *shrinking
	examples  int // runs that were looked at
}

// mostExamples is how many runs with the same finding are looked at for one that is easy to shrink.
const mostExamples = 8

// example makes a finding of a run that shows it: it repeats the run, keeps its choices, and leaves out
// what is easy to leave out.
func (s *Search) example(ctx context.Context, c course, name, verdict string) (*Finding, error) {
	recording := newRecording(s.plan.strategy(c))
	first, err := s.subject.run(ctx, recording)
	if err != nil {
		return nil, err
	}
	f := &Finding{Name: name, Verdict: verdict, Found: s.plan.name(c), Runs: 1, Before: len(recording.choices), examples: 1}
	f.shrinking = &shrinking{best: recording.choices, try: func(fewer []Choice) ([]Choice, bool) {
		if ctx.Err() != nil {
			return nil, false
		}
		replay := NewReplay(fewer)
		result, err := s.subject.run(ctx, replay)
		if err != nil {
			return nil, false
		}
		shown := Shows(result, name)
		if shown != nil {
			f.keep(result, shown)
		}
		return replay.taken, shown != nil
	}}
	if shown := Shows(first, name); shown != nil {
		f.keep(first, shown)
	}
	f.shrinking.simplify()
	f.Choices = f.shrinking.best
	return f, nil
}

// keep keeps how a run shows the finding.
func (f *Finding) keep(result *scenario.Result, shown *check.Finding) {
	f.Verdict, f.Blame, f.Story = shown.Verdict, shown.Blame(), storyOf(result, shown)
}

// again takes notice of a further run that shows the finding: it may be simpler.
func (s *Search) again(ctx context.Context, f *Finding, c course) error {
	f.Runs++
	if f.shrinking.isShort() || f.examples >= mostExamples {
		return nil
	}
	f.examples++
	other, err := s.example(ctx, c, f.Name, f.Verdict)
	if err == nil && len(other.Choices) < len(f.Choices) {
		other.Runs, other.examples = f.Runs, f.examples
		*f = *other
	}
	return err
}

// Shows is the finding of a name among what a run shows; nil if it does not.
func Shows(result *scenario.Result, name string) *check.Finding {
	shown := check.Shown(result)
	if i := slices.IndexFunc(shown, func(f check.Finding) bool { return nameOf(f, result) == name }); i >= 0 {
		return &shown[i]
	}
	return nil
}

// nameOf is the name of a finding without that of the node on which a run happens to show it.
func nameOf(f check.Finding, result *scenario.Result) string {
	name := f.Name
	for _, e := range result.Trace {
		if e.Node != "" && strings.Contains(name, e.Node) {
			name = strings.ReplaceAll(name, e.Node, "…")
		}
	}
	return name
}

// unite puts the forms of one defect together, the simplest for all.
func unite(findings []*Finding) []*Finding {
	forms := make([]check.Finding, len(findings))
	for i, f := range findings {
		forms[i] = check.Finding{Name: f.Name, Verdict: f.Verdict}
	}
	check.Unite(forms)
	var united []*Finding
	for i, f := range findings {
		j := slices.IndexFunc(united, func(other *Finding) bool { return other.Name == forms[i].Name })
		switch {
		case forms[i].Name == f.Name && j < 0:
			united = append(united, f)
			continue
		case j < 0:
			j = slices.IndexFunc(findings, func(other *Finding) bool { return other.Name == forms[i].Name })
			if j < 0 {
				united = append(united, f)
				continue
			}
			findings[j].Runs += f.Runs
			continue
		}
		united[j].Runs += f.Runs
	}
	return united
}

package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/blame"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Finding is a failure with the choices that show it.
type Finding struct {
	*explore.Finding
	// Blame is the responsible party, and Story has the events of the shrunk run in order. Both are
	// set at the end of the search.
	Blame verdict.Blame
	Story []*trace.Event
	// Scenario is the text of a smaller scenario that shows the finding, with Steps steps; nil if
	// there is none.
	Scenario []byte
	Steps    int
	// Hazards are the hazards of Kubernetes in the shrunk run. Late is the time until an awaited
	// condition is met in a run with a longer wait; 0 if it is never met.
	Hazards []*blame.Hazard
	Late    time.Duration
	// Never is set if the condition is not met even after a longer wait.
	Never bool
	// Instead is the verdict on the driver in the run with the longer wait; "" for none.
	Instead string
	// Left is the leftover of Kubernetes in a run that does not wait for the missing call or event;
	// "" for none.
	Left string
}

// shown is a finding of one run.
type shown struct {
	finding check.Finding
	result  *scenario.Result
}

// shownBy returns the failures of a run, causes first.
func shownBy(result *scenario.Result) (all []explore.Shown) {
	for _, f := range check.Shown(result) {
		v := f.Verdict
		v.Name = nameOf(f, result)
		all = append(all, explore.Shown{Verdict: v, More: shown{f, result}})
	}
	return all
}

// complete sets the data of a finding that was shown only by a run in another process, which
// returns a verdict without a story.
func (f *Finding) complete(calm *scenario.Result) {
	if f.More == nil {
		f.More = shown{check.Finding{Verdict: f.Verdict}, calm}
	}
}

// Result returns the result of the run that shows the finding with the fewest choices.
func (f *Finding) Result() *scenario.Result { return f.More.(shown).result }

// show stores the run that shows the finding.
func (f *Finding) show(result *scenario.Result) {
	for _, other := range shownBy(result) {
		if other.Name == f.Name {
			f.Shown = other
		}
	}
}

// explain determines the responsible party of a finding, and its events.
func (f *Finding) explain() {
	by := f.More.(shown)
	f.Story = check.Story(by.result, &by.finding)
	if f.Blame = f.blame(); f.Blame == verdict.Kubernetes {
		f.Hazards = blame.Hazards(by.result.Trace, by.result.VirtualTime)
	}
}

// blame returns the responsible party of a finding.
func (f *Finding) blame() verdict.Blame {
	by := f.More.(shown)
	return blame.Party(f.Verdict, blame.Run{
		Belated: slices.ContainsFunc(f.Choices, isBelated), OfUser: slices.ContainsFunc(f.Choices, isUsers),
		OfDriverAlone: by.finding.IsOfDriverAlone(), Party: by.finding.Blame(),
	})
}

// Fails reports whether the finding is a failure. A known hazard of Kubernetes or an over-specific
// expectation is not a failure.
func (f *Finding) Fails() bool {
	return f.Blame == verdict.Driver || f.Blame == verdict.Own || f.IsUnexplained()
}

// IsUnexplained reports whether nothing explains the finding: the driver is not responsible, and no
// known behaviour of Kubernetes causes it.
func (f *Finding) IsUnexplained() bool {
	return f.Blame == verdict.Kubernetes && !slices.ContainsFunc(f.Choices, isBelated) && blame.Unexplained(f.Verdict, f.Hazards, f.Never)
}

// OfRun returns the finding in the form that it has in the run with the fewest choices.
func (f *Finding) OfRun() check.Finding {
	of := f.More.(shown).finding
	of.Name = f.Name
	return of
}

// isBelated reports whether a choice lets a call take effect after its caller has continued.
func isBelated(c explore.Choice) bool { return c.Takes == fault.Belatedly }

// isUsers reports whether a choice is an action of a user or an administrator.
func isUsers(c explore.Choice) bool { return fault.IsUsers(c.Takes) }

// Shows returns the failure with a name in a run; nil if there is none.
func Shows(result *scenario.Result, name string) *check.Finding {
	shown := check.Shown(result)
	if i := slices.IndexFunc(shown, func(f check.Finding) bool { return nameOf(f, result) == name }); i >= 0 {
		return &shown[i]
	}
	return nil
}

// nameOf returns the name of a finding without the name of the node.
func nameOf(f check.Finding, result *scenario.Result) string {
	name := f.Name
	for _, e := range result.Trace {
		if e.Node != "" && strings.Contains(name, e.Node) {
			name = strings.ReplaceAll(name, e.Node, "…")
		}
	}
	return name
}

// unite merges the findings of one defect into the simplest of them.
func unite(findings []*Finding) []*Finding {
	forms := make([]check.Finding, len(findings))
	for i, f := range findings {
		forms[i] = check.Finding{Verdict: f.Verdict}
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

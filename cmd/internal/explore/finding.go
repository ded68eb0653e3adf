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
	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Finding is one thing that is wrong, and the choices that show it.
type Finding struct {
	*explore.Finding
	// Blame is whose doing it is, and Story what happened in the shrunk run, in order; they are known when the search is over.
	Blame verdict.Blame
	Story []*trace.Event
	// Scenario is the text of a smaller scenario that shows it, with so many Steps; nil if there is none.
	Scenario []byte
	Steps    int
	// Hazards are those of Kubernetes that befell the shrunk run, and Late is how long what never came about in it takes, if it comes
	// about when it is waited for longer; 0 if not.
	Hazards []*blame.Hazard
	Late    time.Duration
	// Never says that it does not come about then, either.
	Never bool
	// Instead is the verdict on the driver in the run that waited longer; empty for none.
	Instead string
	// Left is what Kubernetes leaves where a call or an event never comes and nobody waits for it; empty for nothing.
	Left string
}

// shown is a finding of one run.
type shown struct {
	finding check.Finding
	result  *scenario.Result
}

// shownBy is what a run shows, causes first.
func shownBy(result *scenario.Result) (all []explore.Shown) {
	for _, f := range check.Shown(result) {
		v := f.Verdict
		v.Name = nameOf(f, result)
		all = append(all, explore.Shown{Verdict: v, More: shown{f, result}})
	}
	return all
}

// complete stands for what a run that was made elsewhere has shown, and none in this process again: a verdict that has no story.
func (f *Finding) complete(calm *scenario.Result) {
	if f.More == nil {
		f.More = shown{check.Finding{Verdict: f.Verdict}, calm}
	}
}

// Result is that of the run that shows it with the fewest choices.
func (f *Finding) Result() *scenario.Result { return f.More.(shown).result }

// show keeps how a run shows the finding.
func (f *Finding) show(result *scenario.Result) {
	for _, other := range shownBy(result) {
		if other.Name == f.Name {
			f.Shown = other
		}
	}
}

// explain says whose doing a finding is, and what happened.
func (f *Finding) explain() {
	by := f.More.(shown)
	f.Story = check.Story(by.result, &by.finding)
	if f.Blame = f.blame(); f.Blame == verdict.Kubernetes {
		f.Hazards = blame.Hazards(by.result.Trace, by.result.VirtualTime)
	}
}

// blame says whose doing a finding is.
func (f *Finding) blame() verdict.Blame {
	by := f.More.(shown)
	if slices.ContainsFunc(f.Choices, isBelated) && !f.Is(verdict.Alive, verdict.Answers, verdict.Locks, verdict.Sizes) {
		return verdict.Kubernetes
	}
	if slices.ContainsFunc(f.Choices, isUsers) && !by.finding.IsOfDriverAlone() {
		return verdict.User
	}
	return by.finding.Blame()
}

// Fails reports whether something is wrong: it is neither a hazard that is known of Kubernetes, nor what the scenario expects too exactly.
func (f *Finding) Fails() bool {
	return f.Blame == verdict.Driver || f.Blame == verdict.Own || f.IsUnexplained()
}

// IsUnexplained reports whether the driver is not to blame, and nothing that Kubernetes is known to do explains it: what never comes
// about, calls that nobody makes again, calls in an order that Kubernetes rules out, and those without what they are to be given.
func (f *Finding) IsUnexplained() bool {
	if f.Blame != verdict.Kubernetes || slices.ContainsFunc(f.Choices, isBelated) {
		return false
	}
	if f.Form == calls.OutOfOrder || f.Form == calls.WrongRequest {
		return true
	}
	known := slices.ContainsFunc(f.Hazards, func(h *blame.Hazard) bool { return h.ForGood })
	return !known && (f.Never || f.Is(verdict.AskedAgain))
}

// OfRun is the finding as the run shows it with the fewest choices.
func (f *Finding) OfRun() check.Finding {
	of := f.More.(shown).finding
	of.Name = f.Name
	return of
}

// isBelated reports whether a choice lets a call take effect when its caller has gone on.
func isBelated(c explore.Choice) bool { return c.Takes == fault.Belatedly }

// isUsers reports whether a choice is something that a user or an administrator does.
func isUsers(c explore.Choice) bool { return fault.IsUsers(c.Takes) }

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

package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/sim/scenario/partial"
	"github.com/csisim/csisim/sim/scenario/strict"
	"github.com/csisim/csisim/sim/trace"
)

// Allowed says what of something unwanted may be there: none, any, or what fits a pattern.
type Allowed struct {
	Any      bool
	Patterns []string
}

// Wanted describes the forms.
func (Allowed) Wanted() string { return `none, any, or a list of texts in which * stands for any text` }

// UnmarshalStrict reads one of the forms.
func (a *Allowed) UnmarshalStrict(n *strict.Node) {
	text, ok := n.Text()
	switch {
	case ok && (text == "none" || text == "any"):
		a.Any = text == "any"
	case n.IsList():
		n.Decode(&a.Patterns)
	default:
		n.ReportWrong(a.Wanted())
	}
}

// JSONSchema allows the forms.
func (Allowed) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"enum": []any{"none", "any"}},
		map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}}
}

// refused are those that may not be there, each once.
func (a *Allowed) refused(found []string) []string {
	var kept []string
	for _, text := range found {
		if !a.allows(text) && !slices.Contains(kept, text) {
			kept = append(kept, text)
		}
	}
	return kept
}

func (a *Allowed) allows(text string) bool {
	return a.Any || slices.ContainsFunc(a.Patterns, func(p string) bool { return partial.Wildcard(p, text) })
}

func (a *Allowed) failure(what, expected string, found []string) *Failure {
	if a == nil {
		return nil
	}
	refused := a.refused(found)
	if len(refused) == 0 {
		return nil
	}
	if len(a.Patterns) > 0 {
		expected += " but " + strings.Join(a.Patterns, ", ")
	}
	verdict := fmt.Sprintf("%s: %s", what, refused[0])
	if more := len(refused) - 1; more > 0 {
		verdict += fmt.Sprintf(" (and %d more)", more)
	}
	return &Failure{Verdict: verdict, Expected: expected, Got: strings.Join(refused, "\n")}
}

// violationFailure says that a driver broke the CSI spec.
func violationFailure(r *runner, allowed *Allowed) *Failure {
	var found []string
	violations := r.cluster.Wire.Violations()
	for _, violation := range violations {
		found = append(found, violation.String())
	}
	f := allowed.failure("CSI spec violated", "the driver keeps to the CSI spec", found)
	if f != nil {
		f.about = r.first(trace.Violation)
		f.Spec = violations[slices.Index(found, allowed.refused(found)[0])].Section()
	}
	return f
}

// first is the event of the kind with which it began: later ones may follow from it.
func (r *runner) first(kind trace.Kind) *trace.Event {
	for _, e := range r.cluster.World.Trace.Events() {
		if e.Kind == kind {
			return e
		}
	}
	return nil
}

package expect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Allowed limits unwanted findings: it allows none, all, or those that match a pattern.
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

// unwanted is a finding: its text, to which patterns apply, and its verdict.
type unwanted struct {
	text string
	verdict.Verdict
}

// refused returns the findings that are not allowed, without repetitions.
func (a *Allowed) refused(found []unwanted) []unwanted {
	var kept []unwanted
	for _, one := range found {
		if !a.allows(one.text) && !slices.ContainsFunc(kept, func(other unwanted) bool { return other.text == one.text }) {
			kept = append(kept, one)
		}
	}
	return kept
}

func (a *Allowed) allows(text string) bool {
	return a.Any || slices.ContainsFunc(a.Patterns, func(p string) bool { return partial.Wildcard(p, text) })
}

// failure returns the failure for the findings that are not allowed.
func (a *Allowed) failure(expected string, found []unwanted) *Failure {
	refused := a.refused(found)
	if len(refused) == 0 {
		return nil
	}
	if len(a.Patterns) > 0 {
		expected += " but " + strings.Join(a.Patterns, ", ")
	}
	f := &Failure{Verdict: refused[0].Verdict, Expected: expected}
	if more := len(refused) - 1; more > 0 {
		f.Verdict.More = more
		f.Verdict.Text += fmt.Sprintf(" (and %d more)", more)
	}
	var texts []string
	for _, one := range refused {
		texts = append(texts, one.text)
	}
	f.Got = strings.Join(texts, "\n")
	return f
}

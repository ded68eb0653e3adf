package expect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
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

// failure is one of those that were found and are not allowed.
func (a *Allowed) failure(what, expected string, found []string) *Failure {
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

package expect

import (
	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
)

// Forbidden are CSI calls that must not occur: never, or not after another call. A method with a *
// does not match requests for capabilities.
type Forbidden struct {
	calls.Pattern
	After *calls.Pattern
}

// forbiddenAfter is the only key that a forbidden call has in addition to a pattern.
type forbiddenAfter struct {
	After calls.Pattern `json:"after,omitempty" doc:"Only calls after the first such call are forbidden."`
}

// UnmarshalStrict reads a pattern and the field after.
func (f *Forbidden) UnmarshalStrict(n *strict.Node) {
	if after := n.Value("after"); after != nil {
		f.After = &calls.Pattern{}
		after.Decode(f.After)
	}
	n.Without("after").Decode(&f.Pattern)
}

// Wanted describes the forms.
func (Forbidden) Wanted() string { return calls.Pattern{}.Wanted() }

// JSONSchema returns the schema of a pattern, with the field after.
func (Forbidden) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string"}, strict.MapSchema(nil, calls.Pattern{}, forbiddenAfter{}),
	}}
}

// String returns the expectation in words.
func (f Forbidden) String() string {
	text := "no call " + f.Pattern.String()
	if f.After != nil {
		text += " after " + f.After.String()
	}
	return text
}

// Failure reports the first forbidden call.
func (f Forbidden) Failure(ev *Evidence) *Failure {
	if problem := f.Problem(); problem != "" {
		return &Failure{Verdict: verdict.Plain(problem)}
	}
	open := f.After == nil
	for _, e := range calls.Relevant(ev.CallsSince(ev.Since), f.patterns()) {
		if open && f.Mismatch(e, ev.Names) == "" {
			return &Failure{
				Verdict: verdict.Plain("forbidden call: " + calls.Short(e.Method)), Expected: f.String(),
				Got: ev.Names.Line(e), About: e,
			}
		}
		open = open || f.After.Mismatch(e, ev.Names) == ""
	}
	return nil
}

func (f Forbidden) patterns() []calls.Pattern {
	if f.After == nil {
		return []calls.Pattern{f.Pattern}
	}
	return []calls.Pattern{f.Pattern, *f.After}
}

package scenario

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/scenario/strict"
	"github.com/csisim/csisim/sim/trace"
)

// wantedCalls holds the calls of the run against the wanted ones.
func (e *Expectations) wantedCalls(r *runner, since uint64) *Failure {
	if len(e.Calls) == 0 {
		return nil
	}
	wanted := calls.Wanted{Patterns: e.Calls, Exact: e.Exact}
	made := calls.Relevant(r.journal.callsSince(since), e.Calls)
	gap := wanted.Match(made, r.journal.names)
	if gap == nil {
		return nil
	}
	f := &Failure{Got: r.callsAfter(made, gap.After)}
	if gap.Pattern == len(e.Calls) {
		f.Verdict = "a call too many"
		f.Expected = fmt.Sprintf("nothing after call %d of the list, %v", gap.Pattern, e.Calls[gap.Pattern-1])
	} else {
		f.Verdict = fmt.Sprintf("call %d of %d did not come as expected: %s", gap.Pattern+1, len(e.Calls), e.Calls[gap.Pattern].Call)
		f.Expected = e.Calls[gap.Pattern].String()
		f.Hint = nearMiss(e.Calls[gap.Pattern], made, gap.After, r.journal.names)
	}
	if gap.After > 0 {
		f.about = made[gap.After-1]
	}
	return f
}

// maxShownCalls is how many calls a failure lists.
const maxShownCalls = 5

func (r *runner) callsAfter(made []*trace.Event, after int) string {
	if after == len(made) {
		return "no further call after " + plural(after, "call")
	}
	var lines []string
	for _, e := range made[after:min(len(made), after+maxShownCalls)] {
		lines = append(lines, r.journal.names.Line(e))
	}
	if more := len(made) - after - maxShownCalls; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// nearMiss tells of a call of the wanted method that is not as wanted.
func nearMiss(p calls.Pattern, made []*trace.Event, after int, names *calls.Names) string {
	method := calls.Pattern{Call: p.Call}
	for _, e := range made[after:] {
		if method.Mismatch(e, names) == "" {
			if wrong := p.Mismatch(e, names); wrong != "" {
				return fmt.Sprintf("the %s at %v is not it: %s", p.Call, e.At, wrong)
			}
		}
	}
	for _, e := range made[:after] {
		if p.Mismatch(e, names) == "" {
			return fmt.Sprintf("there is one at %v, before what the list has ahead of it", e.At)
		}
	}
	return ""
}

// Forbidden are CSI calls that must not come, at all or after another one.
type Forbidden struct {
	calls.Pattern
	After *calls.Pattern
}

// forbiddenAfter is the one key that a forbidden call has beyond a pattern's.
type forbiddenAfter struct {
	After calls.Pattern `json:"after,omitempty" doc:"Only calls after the first such call are forbidden."`
}

// UnmarshalStrict reads a pattern and what it comes after.
func (f *Forbidden) UnmarshalStrict(n *strict.Node) {
	if after := n.Value("after"); after != nil {
		f.After = &calls.Pattern{}
		after.Decode(f.After)
	}
	n.Without("after").Decode(&f.Pattern)
}

// Wanted describes the forms.
func (Forbidden) Wanted() string { return calls.Pattern{}.Wanted() }

// JSONSchema is a pattern's with after.
func (Forbidden) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string"}, mapOf(nil, calls.Pattern{}, forbiddenAfter{}),
	}}
}

func (f *Forbidden) failure(r *runner, since uint64) *Failure {
	open := f.After == nil
	for _, e := range r.journal.callsSince(since) {
		if open && f.Mismatch(e, r.journal.names) == "" {
			expected := "no call " + f.Pattern.String()
			if f.After != nil {
				expected += " after " + f.After.String()
			}
			return &Failure{
				Verdict: "forbidden call: " + calls.Short(e.Method), Expected: expected,
				Got: r.journal.names.Line(e), about: e,
			}
		}
		open = open || f.After.Mismatch(e, r.journal.names) == ""
	}
	return nil
}

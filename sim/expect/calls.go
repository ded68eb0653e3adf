package expect

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// Call describes CSI calls by their method and more.
type Call = calls.Pattern

// Calls expects CSI calls in this order. Unless it is exact, other calls may occur between them.
type Calls calls.Wanted

// String lists the calls.
func (c Calls) String() string {
	words := make([]string, len(c.Patterns))
	for i, p := range c.Patterns {
		words[i] = p.String()
	}
	return "calls " + strings.Join(words, "; ")
}

// Failure reports the first missing or the first superfluous call.
func (c Calls) Failure(ev *Evidence) *Failure {
	if len(c.Patterns) == 0 {
		return nil
	}
	for i, p := range c.Patterns {
		if problem := p.Problem(); problem != "" {
			return &Failure{Verdict: verdict.Plain(problem), Item: i}
		}
	}
	made := calls.Relevant(ev.CallsSince(ev.Since), c.Patterns)
	gap := calls.Wanted(c).Match(made, ev.Names)
	if gap == nil {
		return nil
	}
	f := &Failure{Got: ev.callsAfter(made, gap.After), Item: min(gap.Pattern, len(c.Patterns)-1)}
	if gap.Pattern == len(c.Patterns) {
		f.Verdict = verdict.Plain("a call too many")
		f.Expected = fmt.Sprintf("nothing after call %d of the list, %v", gap.Pattern, c.Patterns[gap.Pattern-1])
	} else {
		wanted := c.Patterns[gap.Pattern]
		f.Verdict = verdict.Plain(fmt.Sprintf("call %d of %d did not come as expected: %s", gap.Pattern+1, len(c.Patterns), wanted.Call))
		f.Expected = wanted.String()
		f.Hint = nearMiss(wanted, made, gap.After, ev.Names)
	}
	if gap.After > 0 {
		f.About = made[gap.After-1]
	}
	return f
}

// maxShown bounds the calls or events that a failure lists.
const maxShown = 5

func (ev *Evidence) callsAfter(made []*trace.Event, after int) string {
	if after == len(made) {
		return "no further call after " + plural.Of(after, "call")
	}
	var lines []string
	for _, e := range made[after:min(len(made), after+maxShown)] {
		lines = append(lines, ev.Names.Line(e))
	}
	if more := len(made) - after - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// nearMiss reports a call of the wanted method that is not as wanted.
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
			return fmt.Sprintf("there is one at %v, before the calls that the list has ahead of it", e.At)
		}
	}
	return ""
}

package scenario

import (
	"fmt"
	"math"
	"strings"

	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/scenario/partial"
	"github.com/csisim/csisim/sim/trace"
)

// EventPattern describes Kubernetes events. What is left out is any.
type EventPattern struct {
	Reason  string      `json:"reason,omitempty" example:"FailedMount" doc:"The event's reason; * stands for any text."`
	About   string      `json:"about,omitempty" example:"pod/web" doc:"The object that it is about, kind and name."`
	Type    string      `json:"type,omitempty" enum:"Normal|Warning" doc:"The event's type."`
	From    string      `json:"from,omitempty" example:"kubelet" doc:"The component that emitted it."`
	Message string      `json:"message,omitempty" example:"*Multi-Attach error*" doc:"The event's message; * stands for any text."`
	Count   calls.Count `json:"count,omitempty" doc:"How often it is emitted; default at least once."`
}

// Wanted shows an example.
func (EventPattern) Wanted() string {
	return "a map such as {reason: FailedMount, about: pod/web}"
}

func (p *EventPattern) check(c *checker) {
	if p.Reason == "" && p.About == "" && p.Message == "" && p.Type == "" {
		c.report("", "an event without anything that tells it from others", p.Wanted())
	}
	if p.About == "" {
		return
	}
	kind, name, ok := strings.Cut(p.About, "/")
	res, known := resourceNamed(kind)
	if !ok || name == "" || !known {
		c.document.ReportUnknown(c.in("about"), fmt.Sprintf("%q", p.About), kind, `kind and name, such as "pod/web"`, kindList())
		return
	}
	p.About = res.GVK.Kind + "/" + name
}

func (p *EventPattern) matches(e *trace.Event) bool {
	fits := func(pattern, text string) bool { return pattern == "" || partial.Wildcard(pattern, text) }
	return fits(p.Reason, e.Method) && fits(p.About, e.Name) && fits(p.Message, e.Message) &&
		fits(p.Type, e.Resource) && fits(p.From, e.Actor)
}

// String is the pattern in words: FailedMount about Pod/web, message *Internal*.
func (p EventPattern) String() string {
	text := p.Reason
	if text == "" {
		text = "an event"
	}
	for _, part := range []struct{ words, value string }{
		{" about ", p.About}, {" from ", p.From}, {", type ", p.Type}, {", message ", p.Message},
	} {
		if part.value != "" {
			text += part.words + part.value
		}
	}
	if p.Count.Given {
		text += fmt.Sprintf(", %v times", p.Count)
	}
	return text
}

// failure says that the events since then are too few or too many.
func (p *EventPattern) failure(r *runner, since uint64) *Failure {
	var about *trace.Event
	found := 0
	var others []string
	for _, e := range r.journal.events {
		if e.Seq <= since {
			continue
		}
		switch {
		case p.matches(e):
			found++
			about = e
		case p.Reason != "" && partial.Wildcard(p.Reason, e.Method), p.About != "" && p.About == e.Name && e.Resource == "Warning":
			others = append(others, fmt.Sprintf("%v %s %s: %s", e.At, e.Method, e.Name, e.Message))
		}
	}
	if p.Count.Or(1, math.MaxInt).Holds(found) {
		return nil
	}
	f := &Failure{
		Verdict:  fmt.Sprintf("%s was %s", orText(p.Reason, "the event"), emitted(found)),
		Expected: p.String(), Got: "it was " + emitted(found), about: about,
	}
	if len(others) > 0 {
		f.Got += "; others were:\n" + strings.Join(others[:min(len(others), maxShownCalls)], "\n")
	}
	return f
}

func emitted(n int) string {
	switch n {
	case 0:
		return "never emitted"
	case 1:
		return "emitted once"
	}
	return fmt.Sprintf("emitted %d times", n)
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

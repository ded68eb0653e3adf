package expect

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Event describes Kubernetes events. Omitted fields match any value.
type Event struct {
	Reason  string      `json:"reason,omitempty" example:"FailedMount" doc:"The event's reason; * stands for any text."`
	About   string      `json:"about,omitempty" example:"pod/web" doc:"The object that it is about, kind and name."`
	Type    string      `json:"type,omitempty" enum:"Normal|Warning" doc:"The event's type."`
	From    string      `json:"from,omitempty" example:"kubelet" doc:"The component that emitted it."`
	Message string      `json:"message,omitempty" example:"*Multi-Attach error*" doc:"The event's message; * stands for any text."`
	Count   calls.Count `json:"count,omitempty" doc:"The number of times that it is emitted; default at least once."`
}

// Wanted shows an example.
func (Event) Wanted() string {
	return "a map such as {reason: FailedMount, about: pod/web}"
}

// Resolve replaces the subject of the events by its form in events, such as Pod/web for po/web. It
// reports whether objects of that kind exist.
func (p *Event) Resolve(kinds Kinds) bool {
	kind, name, ok := strings.Cut(p.About, "/")
	res, known := kinds.Named(kind)
	if !ok || name == "" || !known {
		return false
	}
	p.About = res.GVK.Kind + "/" + name
	return true
}

// Matches reports whether an event matches the pattern.
func (p *Event) Matches(e *trace.Event) bool {
	fits := func(pattern, text string) bool { return pattern == "" || partial.Wildcard(pattern, text) }
	return fits(p.Reason, e.Method) && fits(p.About, e.Name) && fits(p.Message, e.Message) &&
		fits(p.Type, e.Resource) && fits(p.From, e.Actor)
}

// String returns the pattern in words: FailedMount about Pod/web, message *Internal*.
func (p Event) String() string {
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

// Failure reports that there are too few or too many such events.
func (p Event) Failure(ev *Evidence) *Failure {
	if p.About != "" && !p.Resolve(KindsIn(ev.Store)) {
		return &Failure{Verdict: verdict.Plain(fmt.Sprintf("%q is no kind and name", p.About)), Expected: `an object such as "pod/web"`}
	}
	var about *trace.Event
	found := 0
	var others []string
	for _, e := range ev.EventsSince(ev.Since) {
		switch {
		case p.Matches(e):
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
		Verdict:  verdict.Plain(fmt.Sprintf("%s was %s", cmp.Or(p.Reason, "the event"), Emitted(found))),
		Expected: p.String(), Got: "it was " + Emitted(found), About: about,
	}
	if len(others) > 0 {
		f.Got += "; others were:\n" + strings.Join(others[:min(len(others), maxShown)], "\n")
	}
	return f
}

// Emitted describes the number of emissions of an event.
func Emitted(n int) string {
	switch n {
	case 0:
		return "never emitted"
	case 1:
		return "emitted once"
	}
	return fmt.Sprintf("emitted %d times", n)
}

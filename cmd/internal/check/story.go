package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	faulteffect "github.com/csisim/csisim/internal/driver/effect"
	patterns "github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// LongestStory is the highest number of events of a story. At most mostTrail of them are the last
// events in a report of the run.
const LongestStory, mostTrail = 8, 3

// Story returns the events that explain a finding, in order: faults and crashes, the calls with
// these faults, the call of the finding, and the last events before it. Later events are
// consequences and therefore omitted. If an awaited event never happened, the story includes later
// faults, since the last event of the waiting object may precede the fault that delays it.
func Story(result *scenario.Result, f *Finding) []*trace.Event {
	var story []*trace.Event
	add := func(e *trace.Event) {
		if e != nil && !slices.Contains(story, e) {
			story = append(story, e)
		}
	}
	about := f.Failure.About
	add(about)
	if call := culprit(result.Trace, about); call != nil {
		add(call)
		add(before(result.Trace, call))
	}
	for _, e := range result.Trace {
		if about != nil && e.Seq > about.Seq && !f.Is(verdict.Progress) {
			break
		}
		if len(story) < LongestStory && IsByChance(e) && !isHarmless(e, about) {
			add(e)
		}
	}
	kept := len(story)
	for _, e := range slices.Backward(f.Failure.Trail) {
		if len(story) < min(kept+mostTrail, LongestStory) {
			add(e)
		}
	}
	slices.SortFunc(story, func(a, b *trace.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return story
}

// IsByChance reports whether the event is a fault or a crash.
func IsByChance(e *trace.Event) bool {
	return e.Kind == trace.FaultFired || e.Kind == trace.Call && e.Injected != ""
}

// isHarmless reports whether a fault only repeated a call that is unrelated to the finding: neither
// the finding's call nor the call that undoes it.
func isHarmless(e, about *trace.Event) bool {
	return e.Kind == trace.Call && faulteffect.Of(fault.Effect(e.Effect)).Doubles &&
		about != nil && about.Method != e.Method && ledger.Undo(e.Method) != path.Base(about.Method)
}

// before returns the last earlier call of the same method at the same place; nil for none.
func before(events []*trace.Event, call *trace.Event) *trace.Event {
	for _, e := range slices.Backward(events) {
		if e.Seq < call.Seq && e.Kind == trace.Call && e.Method == call.Method && e.Driver == call.Driver && e.Node == call.Node {
			return e
		}
	}
	return nil
}

// culprit returns the call in which an event was found; nil for none.
func culprit(events []*trace.Event, about *trace.Event) *trace.Event {
	if about == nil || about.Kind == trace.Call {
		return about
	}
	for _, e := range slices.Backward(events) {
		if e.Seq < about.Seq && e.Kind == trace.Call && e.Method == about.Method && e.Node == about.Node {
			return e
		}
	}
	return nil
}

// mostMoments is the highest number of events of a story on one line.
const mostMoments = 4

// inOneLine formats a story for the card: calls with their results, faults and crashes.
func inOneLine(story []*trace.Event) string {
	var moments []string
	for _, e := range story {
		text := momentOf(e)
		if text != "" && (len(moments) == 0 || moments[len(moments)-1] != text) {
			moments = append(moments, text)
		}
	}
	if more := len(moments) - mostMoments; more > 0 {
		moments = append(moments[:mostMoments-1], moments[len(moments)-1])
	}
	return strings.Join(moments, " → ")
}

func momentOf(e *trace.Event) string {
	switch {
	case e.Kind == trace.FaultFired:
		return e.Message
	case e.Kind != trace.Call || patterns.IsAsking(e):
		return ""
	}
	result := "OK"
	if e.Code != "" {
		result = "✗ " + e.Code
	}
	text := fmt.Sprintf("%s %s", path.Base(e.Method), result)
	if e.Injected != "" {
		text += " (" + e.Injected + ")"
	}
	return text
}

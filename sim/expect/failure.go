package expect

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Failure is one unmet expectation.
type Failure struct {
	// Verdict is the finding, on one line.
	Verdict verdict.Verdict
	// Step is the number, from 1, of a scenario's step. It is 0 for expectations at the end and in
	// Go tests.
	Step int
	// File and Line are the place of the expectation. They are empty in Go tests, which report the
	// place themselves.
	File string
	Line int
	// Item is the index, from 0, of an item in a list of calls: the missing item, or the item
	// before a superfluous call.
	Item          int
	Expected, Got string
	// About is the event that shows the failure best; nil for none.
	About *trace.Event
	// Trail are the events that led there, the last event last.
	Trail []*trace.Event
	// Hint is advice about the next thing to look at or to try.
	Hint string
	// Spec is the address of the section of the CSI spec that was broken.
	Spec string
}

func (f *Failure) Error() string { return f.Verdict.Text }

// Explain adds the preceding events to a failure. It also adds a hint, unless the failure has one.
func (ev *Evidence) Explain(f *Failure) {
	ev.Update()
	f.Trail = trail(ev.recorder.Events(), f.About, ev.Names)
	if f.Hint == "" {
		f.Hint = ev.hint()
	}
}

// Text returns the full text of the failure. names shortens the names in the trail's events.
func (f Failure) Text(names *calls.Names) string {
	var b strings.Builder
	if f.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
	}
	fmt.Fprintf(&b, "%s\n", f.Verdict.Text)
	block := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", title, strings.ReplaceAll(text, "\n", "\n            "))
		}
	}
	block("expected", f.Expected)
	block("got", f.Got)
	var lines []string
	for _, e := range f.Trail {
		lines = append(lines, EventLine(e, names))
	}
	block("led there", strings.Join(lines, "\n"))
	block("hint", f.Hint)
	block("spec", f.Spec)
	return b.String()
}

package trace

import (
	"io"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/world/excerpt"
)

// TimelineOptions configure a timeline. The zero value is plain text with lines of any length.
type TimelineOptions struct {
	// Color paints lanes and outcomes with ANSI escapes.
	Color bool
	// Width is the number of columns at which lines are wrapped; 0 means no wrapping.
	Width int
	// Verbose folds, hides and abbreviates nothing.
	Verbose bool
	// Indent precedes every line.
	Indent string
	// FromStep begins with the first step of the scenario. One line counts the previous events, in
	// which the cluster starts. A run without a step is shown completely.
	FromStep bool
	// Raw means that the caller passes the text through Escaped.
	Raw bool
	// Story shows few events in narrow columns and without numbers, each with its remark by Seq.
	Story map[uint64]string
	// Legend begins with an explanation of the columns and signs.
	Legend bool
}

// Timeline prints events for people, one line each: number, virtual time, component, action and
// result. If the previous line is not the cause, it also prints the number of the cause's line. Its
// Add is a Sink.
type Timeline struct {
	to       io.Writer
	options  TimelineOptions
	narrator *narrator

	lines  int            // numbered so far
	lineOf map[uint64]int // by Seq: the line of the event
	held   *fold
	last   time.Duration
	err    error

	waiting []waitingEvent // before the first step, with FromStep
	begun   bool
}

// waitingEvent is an event before the first step, which is counted or shown later.
type waitingEvent struct {
	event *Event
	shown entry
}

// gap is the shortest pause in virtual time that gets a separate line.
const gap = time.Second

// NewTimeline returns a timeline that writes to w.
func NewTimeline(w io.Writer, o TimelineOptions) *Timeline {
	t := &Timeline{to: w, options: o, narrator: newNarrator(o.Verbose), lineOf: map[uint64]int{}, begun: !o.FromStep}
	if o.Legend {
		t.write(o.legend())
	}
	return t
}

// Add adds one event.
func (t *Timeline) Add(e *Event) {
	if e.Kind.IsState() {
		return
	}
	shown := t.narrator.describe(e)
	if !t.begun {
		if e.Kind != Step {
			t.waiting = append(t.waiting, waitingEvent{e, shown})
			return
		}
		t.write(t.options.before(len(t.waiting)))
		t.begun, t.waiting, t.last = true, nil, e.At
	}
	t.describe(e, shown)
}

func (t *Timeline) describe(e *Event, shown entry) {
	switch {
	case shown.hidden:
		t.lineOf[e.Seq] = t.lineOf[e.Cause] // effects of a hidden event refer to its cause
	case shown.fold != "" && !t.options.Verbose:
		t.hold(e, shown)
	default:
		t.release()
		t.number(e, shown)
	}
}

// Close writes the events that are held back and returns the first error of writing.
func (t *Timeline) Close() error {
	for _, w := range t.waiting {
		t.describe(w.event, w.shown)
	}
	t.release()
	return t.err
}

// number writes the next line.
func (t *Timeline) number(e *Event, shown entry) {
	t.pause(e.At)
	t.lines++
	t.lineOf[e.Seq] = t.lines
	if t.options.Story != nil {
		if remark := t.options.Story[e.Seq]; remark != "" {
			shown.because = "← " + remark
		}
	} else if because := t.lineOf[e.Cause]; because != 0 && because != t.lines-1 {
		shown.because = "⟵ #" + strconv.Itoa(because)
	}
	shown.lane, shown.text, shown.outcome = OneLine(shown.lane), OneLine(shown.text), OneLine(shown.outcome)
	switch {
	case t.options.Story != nil:
		shown.text, shown.outcome = ending(excerpt.Paths(shown.text)), ending(excerpt.Paths(shown.outcome))
	case !t.options.Verbose:
		shown.text, shown.outcome = excerpt.Of(shown.text, excerpt.Line), excerpt.Of(shown.outcome, excerpt.Line)
	}
	t.write(t.options.line(t.lines, e.At, shown))
}

// pause writes a line for a time without events.
func (t *Timeline) pause(now time.Duration) {
	if passed := now - t.last; t.lines > 0 && passed >= gap {
		t.write(t.options.gapLine(passed))
	}
	t.last = max(t.last, now)
}

func (t *Timeline) write(text string) {
	text = excerpt.Words(text)
	if !t.options.Raw {
		text = Escaped(text)
	}
	if t.err == nil {
		_, t.err = io.WriteString(t.to, text)
	}
}

// fold is a series of quiet events in one lane that share one line.
type fold struct {
	first *Event
	shown entry // of the first
	items []foldedItem
	until time.Duration
}

// foldedItem is one item of the series, and its count.
type foldedItem struct {
	what  string
	count int
}

// hold adds the event to the current series, or begins a new one. The series gets its line number
// with its first event, so that causes can refer to it.
func (t *Timeline) hold(e *Event, shown entry) {
	if t.held == nil || !t.held.takes(e, shown) {
		t.release()
		t.held = &fold{first: e, shown: shown}
	}
	t.held.add(shown.fold)
	t.held.until = e.At
	t.lineOf[e.Seq] = t.lines + 1
}

// takes reports whether the event belongs to the series. Repetitions may occur at any time, but
// different events must occur at the same instant.
func (f *fold) takes(e *Event, shown entry) bool {
	if f.shown.lane != shown.lane {
		return false
	}
	return len(f.items) == 1 && f.items[0].what == shown.fold || e.At == f.until
}

func (f *fold) add(what string) {
	for i := range f.items {
		if f.items[i].what == what {
			f.items[i].count++
			return
		}
	}
	f.items = append(f.items, foldedItem{what, 1})
}

// entry returns the series as one line: 3× NodeGetCapabilities · mkdir …/globalmount.
func (f *fold) entry() entry {
	if len(f.items) == 1 && f.items[0].count == 1 {
		return f.shown
	}
	shown := entry{lane: f.shown.lane, weight: weight{tone: quiet}}
	for i, item := range f.items {
		if i > 0 {
			shown.text += " · "
		}
		if item.count > 1 {
			shown.text += strconv.Itoa(item.count) + "× "
		}
		shown.text += item.what
	}
	if f.until-f.first.At >= gap {
		shown.text += ", the last at " + seconds(f.until)
	}
	return shown
}

// release writes the current series.
func (t *Timeline) release() {
	if h := t.held; h != nil {
		t.held = nil
		t.number(h.first, h.entry())
		t.last = max(t.last, h.until)
	}
}

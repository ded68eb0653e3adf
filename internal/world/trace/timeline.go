package trace

import (
	"io"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/world/excerpt"
)

// TimelineOptions say how a timeline looks. The zero value is plain text with
// lines of any length.
type TimelineOptions struct {
	// Color paints lanes and outcomes with ANSI escapes.
	Color bool
	// Width is the number of columns at which lines are wrapped; 0 is never.
	Width int
	// Verbose folds, hides and abbreviates nothing.
	Verbose bool
	// Indent stands before every line.
	Indent string
	// FromStep begins with the first step of the scenario: what the cluster does to come up is counted in one
	// line. A run that never gets there is told in full.
	FromStep bool
	// Legend begins with what the columns and signs mean.
	Legend bool
}

// Timeline tells events to people, one line each: number, virtual time, who, what
// happened, what came of it and, unless it is the line above, the line that
// caused it. Its Add is a Sink.
type Timeline struct {
	to      io.Writer
	options TimelineOptions
	teller  *teller

	lines  int            // numbered so far
	lineOf map[uint64]int // by Seq: the line that tells of the event
	held   *fold
	last   time.Duration
	err    error

	waiting []waitingEvent // before the first step, with FromStep
	begun   bool
}

// waitingEvent is one whose telling depends on whether there will be a step.
type waitingEvent struct {
	event *Event
	told  telling
}

// gap is the shortest pause of virtual time that gets a line of its own.
const gap = time.Second

// NewTimeline returns a timeline that writes to w.
func NewTimeline(w io.Writer, o TimelineOptions) *Timeline {
	t := &Timeline{to: w, options: o, teller: newTeller(o.Verbose), lineOf: map[uint64]int{}, begun: !o.FromStep}
	if o.Legend {
		t.write(o.legend())
	}
	return t
}

// Add tells of one event.
func (t *Timeline) Add(e *Event) {
	told := t.teller.tell(e)
	if !t.begun {
		if e.Kind != Step {
			t.waiting = append(t.waiting, waitingEvent{e, told})
			return
		}
		t.write(t.options.before(len(t.waiting)))
		t.begun, t.waiting, t.last = true, nil, e.At
	}
	t.tell(e, told)
}

func (t *Timeline) tell(e *Event, told telling) {
	switch {
	case told.hidden:
		t.lineOf[e.Seq] = t.lineOf[e.Cause] // what it caused refers to what caused it
	case told.fold != "" && !t.options.Verbose:
		t.hold(e, told)
	default:
		t.release()
		t.number(e, told)
	}
}

// Close writes what is held back and returns the first error of writing.
func (t *Timeline) Close() error {
	for _, w := range t.waiting {
		t.tell(w.event, w.told)
	}
	t.release()
	return t.err
}

// number writes the next line.
func (t *Timeline) number(e *Event, told telling) {
	t.pause(e.At)
	t.lines++
	t.lineOf[e.Seq] = t.lines
	if because := t.lineOf[e.Cause]; because != 0 && because != t.lines-1 {
		told.because = "⟵ #" + strconv.Itoa(because)
	}
	if !t.options.Verbose {
		told.text, told.outcome = excerpt.Of(told.text, excerpt.Line), excerpt.Of(told.outcome, excerpt.Line)
	}
	t.write(t.options.line(t.lines, e.At, told))
}

// pause writes a line for time in which nothing happened.
func (t *Timeline) pause(now time.Duration) {
	if passed := now - t.last; t.lines > 0 && passed >= gap {
		t.write(t.options.gapLine(passed))
	}
	t.last = max(t.last, now)
}

func (t *Timeline) write(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.to, Escaped(excerpt.Words(text)))
	}
}

// fold is a series of quiet events in one lane that is told in one line.
type fold struct {
	first *Event
	told  telling // of the first
	items []foldedItem
	until time.Duration
}

// foldedItem is one thing in the series, and how often it happened.
type foldedItem struct {
	what  string
	count int
}

// hold adds the event to the series held back, or begins one. The series has its
// line number from its first event on, so that causes can refer to it.
func (t *Timeline) hold(e *Event, told telling) {
	if t.held == nil || !t.held.takes(e, told) {
		t.release()
		t.held = &fold{first: e, told: told}
	}
	t.held.add(told.fold)
	t.held.until = e.At
	t.lineOf[e.Seq] = t.lines + 1
}

// takes reports whether the event belongs to the series: what is repeated may
// take its time, different things must happen at the same instant.
func (f *fold) takes(e *Event, told telling) bool {
	if f.told.lane != told.lane {
		return false
	}
	return len(f.items) == 1 && f.items[0].what == told.fold || e.At == f.until
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

// telling is the series in one line: 3× NodeGetCapabilities · mkdir …/globalmount.
func (f *fold) telling() telling {
	if len(f.items) == 1 && f.items[0].count == 1 {
		return f.told
	}
	told := telling{lane: f.told.lane, tone: quiet}
	for i, item := range f.items {
		if i > 0 {
			told.text += " · "
		}
		if item.count > 1 {
			told.text += strconv.Itoa(item.count) + "× "
		}
		told.text += item.what
	}
	if f.until-f.first.At >= gap {
		told.text += ", the last at " + seconds(f.until)
	}
	return told
}

// release writes the series held back.
func (t *Timeline) release() {
	if h := t.held; h != nil {
		t.held = nil
		t.number(h.first, h.telling())
		t.last = max(t.last, h.until)
	}
}

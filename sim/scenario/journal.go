package scenario

import (
	"slices"

	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/trace"
)

// journal keeps, of a growing trace, what conditions are about: calls and Kubernetes events, in order.
type journal struct {
	recorder *trace.Recorder
	names    *calls.Names
	calls    []*trace.Event
	events   []*trace.Event
	open     []*trace.Event // calls whose answer has not told its names yet
	seen     uint64         // Seq of the last event that was taken in
}

func newJournal(r *trace.Recorder) *journal { return &journal{recorder: r, names: calls.NewNames()} }

// update takes in what happened since the last update. It costs what is new.
func (j *journal) update() {
	last := j.recorder.Last()
	if last > j.seen {
		all := j.recorder.Events()
		from := len(all)
		for from > 0 && all[from-1].Seq > j.seen {
			from--
		}
		for _, e := range all[from:] {
			j.take(e)
		}
		j.seen = last
	}
	j.open = slices.DeleteFunc(j.open, func(e *trace.Event) bool {
		answered := calls.Answered(e)
		if answered {
			j.names.Learn(e)
		}
		return answered
	})
}

func (j *journal) take(e *trace.Event) {
	j.names.Learn(e)
	switch e.Kind {
	case trace.Call:
		j.calls = append(j.calls, e)
		if !calls.Answered(e) {
			j.open = append(j.open, e)
		}
	case trace.KubeEvent:
		j.events = append(j.events, e)
	}
}

// callsSince are the calls after an event.
func (j *journal) callsSince(seq uint64) []*trace.Event {
	from, _ := slices.BinarySearchFunc(j.calls, seq+1, func(e *trace.Event, seq uint64) int {
		return int(int64(e.Seq) - int64(seq))
	})
	return j.calls[from:]
}

// counter counts calls that fit a pattern while the run goes on. It looks at each call once, and again
// only as long as it has no answer.
type counter struct {
	journal *journal
	pattern calls.Pattern
	next    int            // in the journal's calls
	open    []*trace.Event // calls without an answer, which may still fit
	fitting int
}

func (c *counter) count() int {
	c.journal.update()
	waiting := c.open
	c.open = nil
	for _, e := range append(waiting, c.journal.calls[c.next:]...) {
		switch {
		case c.pattern.Mismatch(e, c.journal.names) == "":
			c.fitting++
		case !calls.Answered(e):
			c.open = append(c.open, e)
		}
	}
	c.next = len(c.journal.calls)
	return c.fitting
}

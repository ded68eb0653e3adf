package expect

import (
	"slices"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// Journal keeps the calls and Kubernetes events of a growing trace in order; expectations need no
// other events.
type Journal struct {
	Names  *calls.Names
	Calls  []*trace.Event
	Events []*trace.Event // of Kubernetes

	recorder *trace.Recorder
	open     []*trace.Event // unanswered calls with their names so far
	seen     uint64         // Seq of the last processed event
}

// NewJournal returns the journal of a recorder's events, up to the last Update.
func NewJournal(r *trace.Recorder) *Journal { return &Journal{recorder: r, Names: calls.NewNames()} }

// Update reads the events since the last update, and reports whether there was a new event or
// answer. Its cost is proportional to the new events.
func (j *Journal) Update() bool {
	last := j.recorder.Last()
	news := last > j.seen
	if news {
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
			j.Names.Learn(e)
			news = true
		}
		return answered
	})
	return news
}

func (j *Journal) take(e *trace.Event) {
	j.Names.Learn(e)
	switch e.Kind {
	case trace.Call:
		j.Calls = append(j.Calls, e)
		if !calls.Answered(e) {
			j.open = append(j.open, e)
		}
	case trace.KubeEvent:
		j.Events = append(j.Events, e)
	}
}

// CallsSince returns the calls after an event.
func (j *Journal) CallsSince(seq uint64) []*trace.Event { return after(j.Calls, seq) }

// EventsSince returns the Kubernetes events after an event.
func (j *Journal) EventsSince(seq uint64) []*trace.Event { return after(j.Events, seq) }

func after(all []*trace.Event, seq uint64) []*trace.Event {
	from, _ := slices.BinarySearchFunc(all, seq+1, func(e *trace.Event, seq uint64) int {
		return int(int64(e.Seq) - int64(seq))
	})
	return all[from:]
}

package trace

// A state says how things stand after the event before it. It is no event: it has no number, nothing refers to it, and only
// the sinks of a run get it.
const (
	// Waits is what processes wait for from this instant on, where that has changed.
	Waits Kind = "wait"
	// Learned is what the cache of a component shows only now, although other things have happened meanwhile.
	Learned Kind = "cache"
	// Kept is what was seen of a call that the CSI spec asks for, beyond its request and its answer.
	Kept Kind = "kept"
)

// IsState reports whether what is recorded is a state, and no event.
func (k Kind) IsState() bool { return k == Waits || k == Learned || k == Kept }

// WaitsFor is the Detail of Waits: the names of processes by what they wait for; by "" those that wait for nothing any more.
type WaitsFor map[string][]string

// Lesson is the Detail of Learned.
type Lesson struct {
	// Changes are the numbers of the changes that the cache did not show, in their order.
	Changes []uint64 `json:"changes"`
	// Relisted: the objects were listed anew, and states in between were missed.
	Relisted bool `json:"relisted,omitempty"`
	// Gone: the component ended and never learned of them.
	Gone bool `json:"gone,omitempty"`
}

// Seen is the Detail of Kept.
type Seen struct {
	Call uint64 `json:"call"`
	Rule string `json:"rule"`
}

// AddState records a state for the sinks, and keeps it if that is wanted.
func (r *Recorder) AddState(e Entry) {
	if !r.WantsStates() {
		return
	}
	event := e.event()
	event.Site, event.Exchange, event.Diff = r.sites.shared(r.site(&e)), noExchange, noDiff
	event.Seq, event.At = r.seq, r.clock.Elapsed()
	r.states.keep(&event)
	if len(r.sinks) > 0 {
		r.queue = append(r.queue, &event)
		r.flush()
	}
}

// states are those that are kept in memory: so many at most. When there are more, none is: each says only what has changed.
type states struct {
	most int
	kept []*Event
}

func (s *states) keep(e *Event) {
	if len(s.kept) >= s.most {
		*s = states{}
		return
	}
	s.kept = append(s.kept, e)
}

// WantsStates reports whether anybody receives states.
func (t *tape) WantsStates() bool { return len(t.sinks) > 0 || t.states.most > 0 }

// KeepStates begins to keep states in memory until there are more than so many.
func (t *tape) KeepStates(most int) { t.states = states{most: most} }

// TakeStates returns the states since the last time, and whether those are all there were.
func (t *tape) TakeStates() ([]*Event, bool) {
	kept := t.states.kept
	t.states.kept = nil
	return kept, t.states.most > 0
}

// Merged are events with the states that stand between them.
func Merged(events, states []*Event) []*Event {
	all := make([]*Event, 0, len(events)+len(states))
	for _, e := range events {
		for ; len(states) > 0 && states[0].Seq < e.Seq; states = states[1:] {
			all = append(all, states[0])
		}
		all = append(all, e)
	}
	return append(all, states...)
}

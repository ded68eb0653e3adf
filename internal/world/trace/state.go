package trace

// A state describes the situation after the preceding event. It is not an event: it has no number,
// no event refers to it, and only the sinks of a run receive it.
const (
	// Waits lists the conditions for which processes wait from this instant on, if they have
	// changed.
	Waits Kind = "wait"
	// CacheUpdated is a late update of a component's cache, after other events.
	CacheUpdated Kind = "cache"
	// Kept records the observation that a call kept a rule of the CSI spec, if the request and the
	// answer do not show it.
	Kept Kind = "kept"
	// MadeWith names the versions of the programs that made a recording. It is the first line of a
	// file. No sink receives it, because the trace of a run does not depend on a build.
	MadeWith Kind = "versions"
)

// IsState reports whether the kind is a state, not an event.
func (k Kind) IsState() bool { return k == Waits || k == CacheUpdated || k == Kept || k == MadeWith }

// WaitsFor is the Detail of Waits: the names of processes by the condition for which they wait. ""
// means that they no longer wait.
type WaitsFor map[string][]string

// CacheUpdate is the Detail of CacheUpdated.
type CacheUpdate struct {
	// Changes are the numbers of the changes that the cache lacked, in their order.
	Changes []uint64 `json:"changes"`
	// Relisted means that the objects were listed again, and states in between were missed.
	Relisted bool `json:"relisted,omitempty"`
	// Gone means that the component ended before its cache received the changes.
	Gone bool `json:"gone,omitempty"`
}

// Seen is the Detail of Kept.
type Seen struct {
	Call uint64 `json:"call"`
	Rule string `json:"rule"`
}

// AddState passes a state to the sinks, and keeps it in memory if KeepStates is set.
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

// states are the states in memory, up to a limit. States beyond the limit are not kept, because
// each state has only the changes since the previous state.
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

// WantsStates reports whether states are received or kept.
func (t *tape) WantsStates() bool { return len(t.sinks) > 0 || t.states.most > 0 }

// KeepStates starts to keep states in memory, up to a limit.
func (t *tape) KeepStates(most int) { t.states = states{most: most} }

// TakeStates returns the states since the last call, and whether they are complete.
func (t *tape) TakeStates() ([]*Event, bool) {
	kept := t.states.kept
	t.states.kept = nil
	return kept, t.states.most > 0
}

// Merged returns the events with the states between them.
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

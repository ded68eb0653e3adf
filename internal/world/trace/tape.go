package trace

// Sink receives events and the states between them. It receives each event once, complete, and in
// the order of Seq.
type Sink func(*Event)

// tape is the common part of a run's recorders: the numbers of its events, and the sinks.
type tape struct {
	seq    uint64
	action uint64 // the newest event that is not a choice
	sinks  []Sink
	queue  []*Event // not passed to the sinks yet, because an earlier call is still open
	open   map[*Event]bool
	states states
}

// To adds a sink for all later events of the run.
func (t *tape) To(s Sink) { t.sinks = append(t.sinks, s) }

// Last returns the Seq of the newest event of the run. LastAction returns the Seq of the newest
// event that is not a decision of the strategy.
func (t *tape) Last() uint64       { return t.seq }
func (t *tape) LastAction() uint64 { return t.action }

func (t *tape) flush() {
	for len(t.queue) > 0 && !t.open[t.queue[0]] {
		e := t.queue[0]
		t.queue[0] = nil
		t.queue = t.queue[1:]
		for _, s := range t.sinks {
			s(e)
		}
	}
}

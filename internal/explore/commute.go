package explore

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// If a run lets another process run first, the result is often the same, because the steps that run
// earlier commute with the steps that they overtake. Such a run can be left out if, after some
// steps, it reaches the state of a run that is made, with the same processes ready in the same
// order. From there on, both runs and all runs that branch off them are equal. The queue of ready
// processes belongs to the state because it determines the next process. Therefore bounds on
// decisions keep their meaning. (Musuvathi and Qadeer, MSR-TR-2007-12, describe a similar
// reduction.)

// twin is a run that deviates at a choice and then reaches the state of an existing run; forks are
// its choices up to that state.
type twin struct{ forks forks }

// window is the part of a run from a choice between processes until no process is ready.
type window struct {
	notes     []note
	stretches []stretch // stretches in the order of the run
	ready     []int32   // ready at the choice; the first one runs next unless the choice differs
	gaveWay   bool      // ready[0] is already running
}

// order is the queue of ready processes while the stretches of a window are executed in some order.
type order struct {
	window *window
	ready  []int32
	made   []bool
	whole  int // number of leading stretches that have all been executed
	count  int
	forks  *forks // nil if they are not needed
}

// make executes a stretch: the processes that it wakes become ready.
func (o *order) make(i int) {
	o.made[i] = true
	o.count++
	for o.whole < len(o.made) && o.made[o.whole] {
		o.whole++
	}
	s := &o.window.stretches[i]
	for _, n := range o.window.notes[s.from:s.to] {
		switch n.kind {
		case wake:
			if !slices.Contains(o.ready, n.of) {
				o.ready = append(o.ready, n.of)
			}
		case yield:
			if len(o.ready) > 0 {
				o.fork(1 + len(o.ready))
			}
		case other:
			o.copy(n)
		}
	}
}

func (o *order) fork(alternatives int) {
	if o.forks != nil {
		o.forks.add(uint64(alternatives), atOther)
	}
}

func (o *order) copy(n note) {
	if o.forks != nil {
		o.forks.pack(uint64(n.of))
	}
}

// next returns the next stretch of the first ready process; -1 if the window has none.
func (o *order) next() int {
	for i := o.whole; i < len(o.made); i++ {
		if !o.made[i] && o.window.stretches[i].process == o.ready[0] {
			return i
		}
	}
	return -1
}

// overtakes returns the first stretch that was not executed yet, precedes stretch i in the run and
// does not commute with it; -1 if all commute.
func (o *order) overtakes(i int) int {
	for before := o.whole; before < i; before++ {
		if !o.made[before] && !o.window.stretches[before].commutes(&o.window.stretches[i]) {
			return before
		}
	}
	return -1
}

// begin returns the order in which the ready process with index first runs first; 0 gives the order
// of the run.
func (w *window) begin(first int, forks *forks) *order {
	o := &order{window: w, made: make([]bool, len(w.stretches)), forks: forks}
	rest := slices.Delete(slices.Clone(w.ready), first, first+1)
	if w.gaveWay && first > 0 { // the yielding process goes to the end of the queue
		rest = append(rest[1:], rest[0])
	}
	o.ready = append([]int32{w.ready[first]}, rest...)
	return o
}

// runs executes a stretch of the first ready process.
func (o *order) runs(i int) {
	o.ready = o.ready[1:]
	o.make(i)
}

// twin runs another process first. It returns nil unless this reaches the state of a run that is
// made.
func (w *window) twin(first int) *twin {
	made := &twin{}
	o := w.begin(first, &made.forks)
	moved := o.next()
	if moved < 0 {
		return nil
	}
	barrier := o.overtakes(moved)
	if barrier == 0 {
		return nil
	}
	o.runs(moved)
	for !w.meets(o, moved, barrier) {
		if len(o.ready) == 0 {
			return nil
		}
		if len(o.ready) > 1 {
			o.fork(len(o.ready))
		}
		i := o.next()
		if i < 0 || barrier >= 0 && i >= barrier || o.overtakes(i) >= 0 {
			return nil
		}
		o.runs(i)
	}
	return made
}

// meets reports whether the order has reached the state of the run itself. If the moved stretch
// does not commute with an overtaken stretch, the order is compared to the run in which the moved
// stretch runs just before the overtaken one.
func (w *window) meets(o *order, moved, barrier int) bool {
	if barrier < 0 {
		return o.whole == o.count && slices.Equal(o.ready, w.readyAfter(o.whole).ready)
	}
	if o.count != barrier+1 || o.whole != barrier {
		return false
	}
	later := w.readyAfter(barrier)
	at := slices.Index(later.ready, w.stretches[moved].process)
	if at < 0 {
		return false
	}
	later.ready = slices.Delete(slices.Clone(later.ready), at, at+1)
	later.make(moved)
	return slices.Equal(o.ready, later.ready)
}

// readyAfter returns the order of the run itself after n stretches.
func (w *window) readyAfter(n int) *order {
	o := w.begin(0, nil)
	for i := range n {
		o.runs(i)
	}
	return o
}

// windows iterates over the choices of a run. The window is nil if the choice is not between
// processes, or if the run ended before a pause.
func (s *survey) windows(yield func(note, *window) bool) {
	var steps []stretch
	for i := 0; i < len(s.notes); i++ {
		if s.notes[i].kind != step && s.notes[i].kind != pause {
			continue
		}
		to := i + 1
		for to < len(s.notes) && s.notes[to].kind != step && s.notes[to].kind != pause {
			to++
		}
		process := s.notes[i].of
		if s.notes[i].kind == pause {
			process = outside
		}
		steps = append(steps, s.stretch(process, i+1, to))
		i = to - 1
	}
	at, ends := 0, 0 // the step that contains the note, and the next step outside of processes
	for i, n := range s.notes {
		for i >= steps[at].to {
			at++
		}
		switch n.kind {
		case other:
			if !yield(n, nil) {
				return
			}
		case next, giveWay:
			ends = max(ends, at+1)
			for ends < len(steps) && steps[ends].process != outside {
				ends++
			}
			var w *window
			if ends < len(steps) {
				w = &window{notes: s.notes, ready: s.queues[n.queue : n.queue+n.ready], stretches: steps[at+1 : ends]}
				if n.kind == giveWay {
					w.gaveWay = true
					w.stretches = append([]stretch{s.stretch(steps[at].process, i+1, steps[at].to)}, w.stretches...)
				}
			}
			if !yield(n, w) {
				return
			}
		}
	}
}

// reduce leaves out the runs that reach the state of other runs, and stores their choices up to
// that state.
func (s *surveyed) reduce() {
	s.forks = nil
	index := s.first
	s.windows(func(n note, w *window) bool {
		defer func() { index++ }()
		if n.kind == other {
			s.forks.pack(uint64(n.of))
			return true
		}
		var left []uint64
		for first := 1; first < int(n.ready); first++ {
			if w == nil {
				left = append(left, uint64(first))
			} else if t := w.twin(first); t == nil {
				left = append(left, uint64(first))
			} else {
				s.twins = append(s.twins, branch{
					picks: append(slices.Clip(s.picks), kernel.Pick{Index: index, Choice: first}), forks: t.forks, next: index + 1,
				})
			}
		}
		s.forks.some(left)
		return true
	})
}

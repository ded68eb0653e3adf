package explore

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Of the runs that let another process run first than a run does, many do the same: what they put first commutes with what it overtakes.
// Such a run need not be made if it comes, after some steps, to the state of a run that is made, with the same processes ready in the
// same order: from there on both are the same, and so is what follows from them. The queue of those that are ready is part of the state
// since it decides who runs next: so bounds on decisions stay what they are. (Musuvathi and Qadeer, MSR-TR-2007-12, have the like.)

// twin says that a run which decides otherwise at a choice comes to the same as one that is made: forks are its choices until then.
type twin struct{ forks forks }

// window is what follows in a run after a choice between processes, until no process is ready.
type window struct {
	notes     []note
	stretches []stretch // in their order
	ready     []int32   // at the choice, first the one that runs, or would run next
	gaveWay   bool      // it runs already
}

// order is the processes that are ready, while stretches are made in some order.
type order struct {
	window *window
	ready  []int32
	made   []bool
	whole  int // so many stretches from the first on are made
	count  int
	forks  *forks // nil if nobody asks
}

// make makes a stretch: who wakes is ready then.
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

// next is the stretch that the first process that is ready makes next; -1 if it makes none in the window.
func (o *order) next() int {
	for i := o.whole; i < len(o.made); i++ {
		if !o.made[i] && o.window.stretches[i].process == o.ready[0] {
			return i
		}
	}
	return -1
}

// overtakes is the first stretch not made yet that comes before another one in the run and does not commute with it; -1 if all do.
func (o *order) overtakes(i int) int {
	for before := o.whole; before < i; before++ {
		if !o.made[before] && !o.window.stretches[before].commutes(&o.window.stretches[i]) {
			return before
		}
	}
	return -1
}

// begin is the order in which a process that is ready runs first; the run's own is that of the first.
func (w *window) begin(first int, forks *forks) *order {
	o := &order{window: w, made: make([]bool, len(w.stretches)), forks: forks}
	rest := slices.Delete(slices.Clone(w.ready), first, first+1)
	if w.gaveWay && first > 0 { // who gives way is the last then
		rest = append(rest[1:], rest[0])
	}
	o.ready = append([]int32{w.ready[first]}, rest...)
	return o
}

// runs lets the first that is ready make its stretch.
func (o *order) runs(i int) {
	o.ready = o.ready[1:]
	o.make(i)
}

// twin is what comes of letting another process run first; nil unless it comes to the same as a run that is made.
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

// meets reports whether the order has come to the state of the run itself or, if the stretch that was moved does not commute with
// one that it has overtaken, of the run in which it is moved to just before that.
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

// readyAfter is the run itself after so many stretches.
func (w *window) readyAfter(n int) *order {
	o := w.begin(0, nil)
	for i := range n {
		o.runs(i)
	}
	return o
}

// windows ranges over the choices between processes in a run, with what follows; nil for another choice, or if the run ended before a pause.
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
	at, ends := 0, 0 // the step in which a note is, and the next one outside of processes
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

// reduce leaves out the runs that come to the same as others, and returns how they go on until they do.
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

package explore

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// surveyed is the strategy of a run from which other runs branch off. It records the objects that
// each step touches. If several runs have orders that differ only in commuting steps, only one of
// them is made.
type surveyed struct {
	*enumerated
	survey
}

func newSurveyed(picks []kernel.Pick) *surveyed {
	return &surveyed{newEnumerated(picks), survey{things: map[string]int32{kernel.Everything: everything}, current: outside}}
}

// Choose records the decision.
func (s *surveyed) Choose(c kernel.Choice) int {
	if c.Index >= s.first {
		s.choice(c)
	}
	return s.enumerated.Choose(c)
}

// survey records the events of a run after its last deviation.
type survey struct {
	began   bool
	things  map[string]int32 // numbers of the touched objects
	current int32            // the running process
	notes   []note
	queues  []int32 // queues of ready processes, at the choices between them
}

const (
	// outside means that no process runs.
	outside int32 = -1
	// everything is touched by a step that commutes with no other step.
	everything int32 = 0
)

// note is one event.
type note struct {
	kind noteKind
	how  kernel.How
	// of is the process, the touched object, or the packed alternatives of a choice.
	of int32
	// queue is the position of the ready processes in queues. The first one runs next unless the
	// choice differs.
	queue, ready int32
}

type noteKind uint8

const (
	step    noteKind = iota // of a process begins
	wake                    // a process becomes ready if it waits
	touched                 // something
	yield                   // the process could yield here
	next                    // a choice of the process that runs next
	giveWay                 // a choice whether the process yields
	other                   // another choice
	pause                   // no process is ready
)

func (s *survey) choice(c kernel.Choice) {
	if !s.began {
		s.began = true
		s.add(note{kind: step, of: s.current})
	}
	n := note{kind: other, of: int32(packed(uint64(c.N), kindOf(c)))}
	if c.Process(0) != nil {
		n.kind, n.queue, n.ready = next, int32(len(s.queues)), int32(c.N)
		if c.Kind == kernel.GiveWay {
			n.kind = giveWay
		}
		for i := range c.N {
			s.queues = append(s.queues, int32(c.Process(i).ID()))
		}
	}
	s.add(n)
}

func (s *survey) add(n note) { s.notes = append(s.notes, n) }

// Follow records an incident.
func (s *survey) Follow(i kernel.Incident) {
	switch i.Kind {
	case kernel.Resumed:
		s.current = int32(i.Process.ID())
	case kernel.Paused:
		s.current = outside
	}
	if !s.began {
		return
	}
	switch i.Kind {
	case kernel.Resumed:
		s.add(note{kind: step, of: s.current})
	case kernel.Paused:
		s.add(note{kind: pause})
	case kernel.Yielded:
		s.add(note{kind: yield})
	case kernel.Spawned:
		s.add(note{kind: wake, of: int32(i.Process.ID())})
	case kernel.Woken:
		if !i.Pending {
			s.add(note{kind: wake, of: int32(i.Process.ID())})
		}
	case kernel.Touched:
		s.add(note{kind: touched, of: s.number(i.What), how: i.How})
	}
}

// number returns the number of a touched object.
func (s *survey) number(thing string) int32 {
	n, ok := s.things[thing]
	if !ok {
		n = int32(len(s.things))
		s.things[thing] = n
	}
	return n
}

// stretch is a part of a run without a switch of processes: a step, or the rest of a step.
type stretch struct {
	process  int32
	from, to int // in the notes
	touches  []touch
}

// touch is an object that a stretch touches, with all ways of access.
type touch struct {
	what int32
	how  kernel.How
}

func (s *survey) stretch(process int32, from, to int) stretch {
	ways := map[int32]kernel.How{}
	for _, n := range s.notes[from:to] {
		if n.kind == touched {
			ways[n.of] |= n.how
		}
	}
	made := stretch{process: process, from: from, to: to}
	// In any order: they are sorted.
	for what, how := range ways {
		made.touches = append(made.touches, touch{what, how})
	}
	slices.SortFunc(made.touches, func(a, b touch) int { return int(a.what - b.what) })
	return made
}

// commutes reports whether two stretches of different processes have the same result in either
// order.
func (s *stretch) commutes(other *stretch) bool {
	if s.process == other.process || s.touch(everything) || other.touch(everything) {
		return false
	}
	a, b := s.touches, other.touches
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].what < b[0].what:
			a = a[1:]
		case a[0].what > b[0].what:
			b = b[1:]
		case a[0].how|b[0].how == kernel.Reading, a[0].how|b[0].how == kernel.Adding:
			a, b = a[1:], b[1:]
		default:
			return false
		}
	}
	return true
}

func (s *stretch) touch(what int32) bool {
	_, is := slices.BinarySearchFunc(s.touches, what, func(t touch, what int32) int { return int(t.what - what) })
	return is
}

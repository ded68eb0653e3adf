package explore

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Exhaustive is the strategy that makes every run within its bounds once: first the calm run, then
// those with one deviation from it, then those with two, and so on.
const Exhaustive = "exhaustive"

// Bounds limit the faults and the other deviations of a run in an exhaustive search.
type Bounds struct{ Faults, Deviations int }

func (b Bounds) hold() bool { return b.Faults >= 0 && b.Deviations >= 0 }

func (b Bounds) any() bool { return b.Faults > 0 || b.Deviations > 0 }

// less returns the remaining bounds after a deviation.
func (b Bounds) less(kind forkKind) Bounds {
	if kind == atFault {
		b.Faults--
	} else {
		b.Deviations--
	}
	return b
}

// enumeration assigns the runs of an exhaustive search. A run is identified by its deviations from
// the calm one. Runs with one more deviation branch off it at decisions after its last one, so no
// run occurs twice.
type enumeration struct {
	mu      sync.Mutex
	changed *sync.Cond
	current branch   // its runs are being handed out
	later   []branch // branches in the order in which learn was called
	handed  uint64
	learnt  uint64
	twins   int // runs that were left out
}

// branch is a run that was made, with its decisions. Other runs branch off at them.
type branch struct {
	picks []kernel.Pick
	left  Bounds
	forks forks
	next  uint64 // index of the next decision
	among fork   // the remaining alternatives of the previous decision
}

func newEnumeration() *enumeration {
	e := &enumeration{}
	e.changed = sync.NewCond(&e.mu)
	return e
}

// of returns the deviations of the run with the given number. It returns false if there is no run
// with this number, or if ctx ends first.
func (e *enumeration) of(ctx context.Context, run uint64) ([]kernel.Pick, bool) {
	defer wakeAtEnd(ctx, e.changed)()
	e.mu.Lock()
	defer e.mu.Unlock()
	for ctx.Err() == nil && !e.over() {
		if e.handed == run {
			if picks, ok := e.take(); ok {
				e.handed++
				e.changed.Broadcast()
				return picks, true
			}
		}
		e.changed.Wait()
	}
	return nil, false
}

// take returns the next run; false if it depends on runs that have not ended.
func (e *enumeration) take() ([]kernel.Pick, bool) {
	if e.handed == 0 {
		return []kernel.Pick{}, true // the calm run
	}
	for {
		if picks, ok := e.current.take(); ok {
			return picks, true
		}
		if len(e.later) == 0 {
			return nil, false
		}
		e.current, e.later = e.later[0], e.later[1:]
	}
}

// take returns the next run that branches off; false at the end.
func (b *branch) take() ([]kernel.Pick, bool) {
	for b.among.from == b.among.to {
		var ok bool
		if b.among, ok = b.forks.take(); !ok {
			return nil, false
		}
		if !b.among.same {
			b.next++
		}
		if !b.left.less(b.among.kind).hold() {
			b.among = fork{}
		}
	}
	pick := kernel.Pick{Index: b.next - 1, Choice: int(b.among.from)}
	b.among.from++
	return append(slices.Clip(b.picks), pick), true
}

// learn processes the result of a run; it is called in the order of the runs.
func (e *enumeration) learn(made *enumerated, bounds Bounds) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.learnt++
	left := bounds
	for _, kind := range made.taken {
		left = left.less(kind)
	}
	if left.any() {
		e.later = append(e.later, branch{picks: made.picks, left: left, forks: made.forks, next: made.first})
	}
	if left = left.less(atOther); left.hold() {
		e.twins += len(made.twins)
		if left.any() {
			for _, twin := range made.twins {
				twin.left = left
				e.later = append(e.later, twin)
			}
		}
	}
	e.changed.Broadcast()
}

// over reports whether every run was made and processed.
func (e *enumeration) over() bool {
	if e.handed == 0 || e.learnt < e.handed {
		return false
	}
	for e.current.spent() && len(e.later) > 0 {
		e.current, e.later = e.later[0], e.later[1:]
	}
	return e.current.spent()
}

// spent reports whether no further run branches off.
func (b *branch) spent() bool {
	ahead := *b
	_, more := ahead.take()
	return !more
}

// leftOut returns the number of runs that were left out.
func (e *enumeration) leftOut() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.twins
}

// complete reports whether every run was made and processed.
func (e *enumeration) complete() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over()
}

// enumerated is the strategy of one run: it makes the deviations of picks, and records the
// decisions after them.
type enumerated struct {
	picks []kernel.Pick
	taken []forkKind // the kinds of picks
	first uint64     // index of the first decision that is recorded
	twins []branch   // runs that can be left out, up to the state that they share with others
	forks forks
}

func newEnumerated(picks []kernel.Pick) *enumerated {
	s := &enumerated{picks: picks}
	if n := len(picks); n > 0 {
		s.first = picks[n-1].Index + 1
	}
	return s
}

// Choose takes the deviation at this decision, if there is one.
func (s *enumerated) Choose(c kernel.Choice) int {
	if c.Index >= s.first {
		s.forks.note(c)
		return 0
	}
	next := s.picks[len(s.taken)]
	if next.Index != c.Index {
		return 0
	}
	s.taken = append(s.taken, kindOf(c))
	if next.Choice >= c.N { // a driver program may have its own randomness
		return 0
	}
	return next.Choice
}

func (s *enumerated) String() string {
	return fmt.Sprintf("%s, %d decisions", Exhaustive, len(s.picks))
}

// fork is a range of deviating alternatives of a decision: those >= from and < to.
type fork struct {
	kind     forkKind
	from, to uint64
	same     bool // the fork belongs to the same decision as the previous fork
}

type forkKind uint64

const (
	atOther forkKind = iota
	atFault
	atRelist // all alternatives but the last are the calm one
	atSome   // the range follows
	atMore   // a further range of the same decision
	forkKinds
)

func kindOf(c kernel.Choice) forkKind {
	switch {
	case isFault(c):
		return atFault
	case c.Kind == kernel.Relist:
		return atRelist
	}
	return atOther
}

// forks are the forks of successive decisions, packed: a run has thousands.
type forks []byte

func (f *forks) note(c kernel.Choice) { f.add(uint64(c.N), kindOf(c)) }

func (f *forks) add(alternatives uint64, kind forkKind) { f.pack(packed(alternatives, kind)) }

func packed(alternatives uint64, kind forkKind) uint64 {
	return alternatives*uint64(forkKinds) + uint64(kind)
}

func (f *forks) pack(n uint64) { *f = binary.AppendUvarint(*f, n) }

func (f *forks) unpack() (n uint64, ok bool) {
	n, size := binary.Uvarint(*f)
	if size <= 0 {
		return 0, false
	}
	*f = (*f)[size:]
	return n, true
}

// some records a decision and the alternatives to try, in ascending order.
func (f *forks) some(alternatives []uint64) {
	kind := atSome
	for first := true; first || len(alternatives) > 0; first = false {
		n := 0
		for n < len(alternatives) && alternatives[n] == alternatives[0]+uint64(n) {
			n++
		}
		f.pack(packed(uint64(n), kind))
		if n > 0 {
			f.pack(alternatives[0])
		}
		alternatives, kind = alternatives[n:], atMore
	}
}

func (f *forks) take() (fork, bool) {
	packed, ok := f.unpack()
	if !ok {
		return fork{}, false
	}
	taken := fork{kind: forkKind(packed % uint64(forkKinds)), from: 1, to: packed / uint64(forkKinds)}
	switch n := taken.to; taken.kind {
	case atRelist:
		taken.from = n - 1
	case atSome, atMore:
		taken.same = taken.kind == atMore
		taken.kind, taken.to = atOther, taken.from
		if n > 0 {
			taken.from, _ = f.unpack()
			taken.to = taken.from + n
		}
	}
	return taken, true
}

package explore

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Bytes is the strategy whose decisions are bytes, so that a fuzzer can change them one by one. Each four are one decision: what it
// is about, which one of those it is in the run, in two bytes of which eleven bits count, and the alternative. What they do not name is calm.
type Bytes struct {
	decisions [3]map[int]int // by what they are about: the alternative, by the number
	met       [3]int
	length    int
}

// What the decisions of Bytes are about.
const (
	aboutFaults = iota
	aboutOrder
	aboutOthers
	aboutAll
)

// furthest is how many decisions of each sort can be named. A volume's life has some 1,800: of more, few of the bytes that a fuzzer draws
// would name one that comes up.
const furthest = 2048

// NewBytes reads decisions; up to three bytes at the end are too few for one.
func NewBytes(data []byte) *Bytes {
	b := &Bytes{length: len(data)}
	for i := range b.decisions {
		b.decisions[i] = map[int]int{}
	}
	for ; len(data) >= 4; data = data[4:] {
		b.decisions[data[0]%aboutAll][(int(data[1])|int(data[2])<<8)%furthest] = int(data[3])
	}
	return b
}

// Faults is how many faults they name at most.
func (b *Bytes) Faults() int { return len(b.decisions[aboutFaults]) }

// Choose takes what the bytes name.
func (b *Bytes) Choose(c kernel.Choice) int {
	about := aboutOthers
	switch {
	case isFault(c):
		about = aboutFaults
	case c.Process(0) != nil:
		about = aboutOrder
	}
	taken, ok := b.decisions[about][b.met[about]]
	b.met[about]++
	switch {
	case !ok:
		return 0
	case about == aboutFaults: // not the calm one
		return 1 + taken%(c.N-1)
	}
	return taken % c.N
}

func (b *Bytes) String() string { return fmt.Sprintf("%d bytes", b.length) }

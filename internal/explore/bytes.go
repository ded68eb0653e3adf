package explore

import (
	"fmt"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Bytes is a strategy that reads its decisions from bytes, so that a fuzzer can change them
// individually. Four bytes encode one decision: its sort, its number among the decisions of this
// sort (eleven bits of two bytes), and the alternative. All other decisions are calm.
type Bytes struct {
	decisions [3]map[int]int // alternatives, by the sort of decision and its number
	met       [3]int
	length    int
}

// The sorts of decisions of Bytes.
const (
	aboutFaults = iota
	aboutOrder
	aboutOthers
	aboutAll
)

// mostDecisions bounds the number of decisions of each sort. The life of a volume has about 1,800.
// With a larger bound, few of the fuzzer's random bytes would name an existing decision.
const mostDecisions = 2048

// NewBytes reads decisions; up to three remaining bytes are ignored.
func NewBytes(data []byte) *Bytes {
	b := &Bytes{length: len(data)}
	for i := range b.decisions {
		b.decisions[i] = map[int]int{}
	}
	for ; len(data) >= 4; data = data[4:] {
		b.decisions[data[0]%aboutAll][(int(data[1])|int(data[2])<<8)%mostDecisions] = int(data[3])
	}
	return b
}

// Faults returns the largest number of faults that the bytes can cause.
func (b *Bytes) Faults() int { return len(b.decisions[aboutFaults]) }

// Choose takes the decision that the bytes encode.
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
	case about == aboutFaults: // 0 is the calm alternative
		return 1 + taken%(c.N-1)
	}
	return taken % c.N
}

func (b *Bytes) String() string { return fmt.Sprintf("%d bytes", b.length) }

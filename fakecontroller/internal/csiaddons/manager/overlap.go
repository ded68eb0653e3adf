package manager

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// overlap is the time for which a pass waits for another controller's pass that it has triggered by
// its last write. It waits until the other pass has made its first call. In recordings such passes
// overlap in each plain deletion of a group. A-VGR-10
const overlap = 5 * time.Millisecond

// overlaps holds the started passes of deletions, and the passes that wait for them.
type overlaps struct {
	begun   map[store.Key]int
	waiting map[store.Key]*kernel.Process
}

// begin records that the pass over an object is about to make its first call.
func (o *overlaps) begin(key store.Key) {
	if o.begun == nil {
		o.begun = map[store.Key]int{}
	}
	o.begun[key]++
	if p := o.waiting[key]; p != nil {
		p.Wake()
	}
}

// await waits until another pass over an object starts, at most slightly longer than the start
// takes.
func (o *overlaps) await(p *kernel.Process, key store.Key, before int) {
	if o.waiting == nil {
		o.waiting = map[store.Key]*kernel.Process{}
	}
	o.waiting[key] = p
	p.WaitUntil("a pass that follows from a deletion", p.Elapsed()+overlap, func() bool { return o.begun[key] > before })
	delete(o.waiting, key)
}

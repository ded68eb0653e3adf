package nodeinfo

import "github.com/csisim/csisim/internal/world/kernel"

// mutex permits only one process at a time to read and write back. K-NODE-6
type mutex struct {
	held    bool
	waiting []*kernel.Process
}

func (x *mutex) lock(p *kernel.Process) {
	for x.held {
		x.waiting = append(x.waiting, p)
		p.Park("its turn to update the node's objects")
	}
	x.held = true
}

func (x *mutex) unlock() {
	x.held = false
	waiting := x.waiting
	x.waiting = nil
	for _, p := range waiting {
		p.Wake()
	}
}

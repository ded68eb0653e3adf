package attachdetach

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// turns returns the work in the order in which a pass attaches volumes. Nodes that need the same
// volume take turns. Only the first of these nodes can have an operation on the volume. Kubernetes
// chooses the first node at random in each pass, by the order of Go maps. Therefore, if the attach
// to one node keeps failing, other nodes do not wait for ever. An exploring strategy chooses the
// order. C-ADC-32, C-OP-7
func (c *Controller) turns(work []pair) []pair {
	var order []pair
	for len(work) > 0 {
		volume := work[0].volume
		n := slices.IndexFunc(work, func(at pair) bool { return at.volume != volume })
		if n < 0 {
			n = len(work)
		}
		order = append(order, c.turnsOf(volume, work[:n])...)
		work = work[n:]
	}
	return order
}

// turnsOf returns the order of the sorted nodes of one volume.
func (c *Controller) turnsOf(volume string, work []pair) []pair {
	if len(c.desired.byVolume[volume]) < 2 {
		delete(c.lastTurn, volume)
		return work
	}
	if len(work) < 2 {
		return work
	}
	first, found := slices.BinarySearchFunc(work, pair{volume, c.lastTurn[volume]}, pair.compare)
	if found {
		first++
	}
	first = (first + c.Kernel.Choose(kernel.Turn, len(work), "node of volume "+volume)) % len(work)
	return slices.Concat(work[first:], work[:first])
}

// tookTurn records that a node has had its turn with a volume that other nodes also need.
func (c *Controller) tookTurn(at pair) {
	if len(c.desired.byVolume[at.volume]) > 1 {
		c.lastTurn[at.volume] = at.node
	}
}

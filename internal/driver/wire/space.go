package wire

import (
	"path"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// space is the fault space of a run, and how much of its budget is left.
type space struct {
	alternatives []fault.Fault
	left         int
}

// DrawFaults lets the strategy of the run decide, at every call that changes something,
// whether a fault of the space befalls it. Without it nothing is asked.
func (w *Wire) DrawFaults(s fault.Space) {
	if all := s.Alternatives(); len(all) > 0 {
		w.space = space{alternatives: all, left: s.Budget}
	}
}

// drawn is the fault that the strategy wants for a call; nil if it wants none.
func (c *call) drawn() *fault.Fault {
	s := &c.wire.space
	if s.left == 0 || !fault.HasEffect(path.Base(c.method)) {
		return nil
	}
	i := c.wire.World.Kernel.Choose(kernel.Fault, 1+len(s.alternatives), c.label())
	if i == 0 {
		return nil
	}
	s.left--
	f := s.alternatives[i-1]
	return &f
}

// label names the call among those of a run, but for how often it was made: the method, the
// volume, the node and the driver.
func (c *call) label() string {
	words := []string{path.Base(c.method)}
	if volume := volumeOf(c.request); volume != "" {
		words = append(words, "of", volume)
	}
	if c.site.Node != "" {
		words = append(words, "on", c.site.Node)
	}
	return strings.Join(append(words, "by", c.site.Driver), " ")
}

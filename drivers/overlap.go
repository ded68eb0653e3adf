package drivers

import (
	"github.com/csisim/csisim/drivers/contract"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// sendOverlapping gives the call to the driver twice at once, as a caller does that lost its
// memory while the driver worked. The caller gets the answer of the one, whatever the other
// came to.
func (c *call) sendOverlapping(f *fault.Fault) error {
	other := c.again(f, c.request)
	var failed error
	done := false
	c.wire.World.Kernel.Spawn(nil, "overlapping call of "+c.method, func(p *kernel.Process) {
		failed = other.deliver(p, other.answer)
		other.end(failed)
		done = true
		c.process.Wake()
	})
	err := c.pass(c.process, c.answer)
	if !c.process.WaitUntil("overlapping answer to "+c.method, c.site.Deadline, func() bool { return done }) {
		return err // who gives up has nothing to compare
	}
	if c.site.Machine != nil {
		c.wire.note(c, contract.CheckOverlap(c.method, c.mountsOfRequest()))
	}
	return err
}

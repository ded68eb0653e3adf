package wire

import (
	"errors"
	"fmt"

	"github.com/csisim/csisim/drivers/fault"
)

// errUnseen is why no mount of a driver's program can be in use.
var errUnseen = errors.New("this system does not show csisim what programs unmount: that takes Linux 5.19, amd64 or arm64, and CAP_SYS_ADMIN")

// sendWhileInUse gives the call to the driver while something uses its mounts. Drivers in
// this process, or that somebody else started, unmount nothing that is seen.
func (c *call) sendWhileInUse(f *fault.Fault) error {
	if c.wire.ProgramAt == nil {
		return c.pass(c.process, c.answer)
	}
	program := c.wire.ProgramAt(c.site)
	if program == nil {
		return c.pass(c.process, c.answer)
	}
	end := program.RefuseUnmount()
	if end == nil {
		c.wire.World.Kernel.Interrupt(fmt.Errorf("fault %s: %w", f.Name, errUnseen))
		return errCallerGone
	}
	defer func() {
		if end() {
			c.foundInUse = true
			c.event.Injected = f.InWords()
		}
	}()
	return c.pass(c.process, c.answer)
}

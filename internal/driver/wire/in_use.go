package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// errUnseen is the reason for which a fault cannot disturb a program's changes to files.
var errUnseen = errors.New("this system does not show csisim which system calls programs make: that takes Linux 5.19, amd64 or arm64, and CAP_SYS_ADMIN")

// sendWhileInUse gives the call to the driver while something uses its mounts. Drivers in this
// process, or programs that csisim did not start, unmount nothing that is seen.
func (c *call) sendWhileInUse(f *fault.Fault) error {
	program := c.program()
	if program == nil {
		return c.pass(c.process, c.answer)
	}
	end := program.RefuseUnmount()
	if end == nil {
		c.wire.World.Kernel.Interrupt(fmt.Errorf("fault %s: %w", f.Name, errUnseen))
		return ErrCallerExited
	}
	defer func() {
		if refused, _ := end(); refused {
			c.ownAnswer = true
			c.befell(f)
		}
	}()
	err := c.pass(c.process, c.answer)
	if _, lazily := end(); err == nil && slices.Contains(pathsOf(c.request), lazily) {
		c.wire.note(c, []verdict.Verdict{contract.UnmountsLazily(c.method, lazily)})
	}
	return err
}

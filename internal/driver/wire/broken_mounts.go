package wire

import (
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/machine"
)

// sendWithBrokenMounts gives the call to the driver while the file systems that are mounted at its
// paths fail. Drivers in this process, and programs that csisim did not start, use no file system
// that is seen.
func (c *call) sendWithBrokenMounts(f *fault.Fault) error {
	broken := machine.BrokenMounts{Paths: pathsOf(c.onMachine(c.request)), Fails: f.Errno()}
	w := c.watchCalls("fault "+f.Name, machine.Interference{Broken: broken})
	if w == nil {
		f.SetHits(0)
		return c.pass(c.process, c.answer)
	}
	defer func() {
		w.End()
		if c.recordSystemCalls(w, f.Fails) == 0 {
			f.SetHits(0)
			return
		}
		c.ownAnswer = true
		c.befell(f)
	}()
	return c.pass(c.process, c.answer)
}

package wire

import (
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// stallTime is the virtual time that a driver stands still in a call after its caller has given up.
// It is long enough for a pod to start and end on a volume that another call has set up meanwhile.
const stallTime = time.Minute

// stall gives the call to the driver. The driver's program stands still between two of its changes
// to files until its caller has given up and called again. Where changes are not seen, it acts at
// once.
func (c *call) stall(p *kernel.Process, f *fault.Fault, answer proto.Message) error {
	hold := c.hold(f)
	if hold != nil {
		defer hold.Release()
		c.wire.stalled[c.site.Driver]++
		defer func() { c.wire.stalled[c.site.Driver]-- }()
	}
	err := c.deliver(p, answer)
	p.Sleep(c.site.Deadline - p.Elapsed() + stallTime)
	if errors.Is(err, errHeld) {
		hold.Release()
		err = c.deliver(p, answer)
	}
	return err
}

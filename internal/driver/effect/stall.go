package effect

import (
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// stallFields are the fields of faults that stall a driver.
type stallFields struct {
	Stall bool `json:"stall,omitempty" doc:"The driver program is stopped in the call, before its second change of files, and continues one minute after its caller has given up. Meanwhile the caller repeats the call, and pods may start and end. A program that makes fewer changes, or a driver in Go code, acts at once, and its answer is late."`
}

// stall stops the driver's program between two of its changes to files until its caller has given
// up and called again. If changes are not observed, the driver acts immediately.
var stall = &Effect{
	Name:  fault.Stall,
	Field: "stall",
	Given: func(f *Fields) bool { return f.Stall },
	InSearches: func(kind fault.Kind, _ Called) []fault.Fault {
		if kind != fault.Stalls {
			return nil
		}
		return []fault.Fault{{Name: "stalls in the driver", Effect: fault.Stall}}
	},
	Never:    unseen,
	InWords:  words("the driver stood still in it until the caller had given up and asked again"),
	Disturbs: always,
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return c.TakeTime(func(p *kernel.Process, into proto.Message) error { return doStall(c, p, f, into) })
	},
}

// stallTime is the virtual time for which a driver is stopped in a call after its caller has given
// up. It is long enough for a pod to start and end on a volume that another call has set up
// meanwhile.
const stallTime = time.Minute

func doStall(c Call, p *kernel.Process, f *fault.Fault, into proto.Message) error {
	hold := stop(c, f)
	if hold != nil {
		defer hold.Release()
		c.Wrap(heldAt(hold.Reached))
		defer c.StandsStill()()
	}
	check := mountsOnce(c)
	err := c.Deliver(p, into)
	if hold != nil && !errors.Is(err, ErrHeld) {
		hold.Release() // the call has ended without such a change: the driver does not stop
	}
	p.Sleep(c.Deadline() - p.Elapsed() + stallTime)
	if errors.Is(err, ErrHeld) {
		hold.Release()
		err = c.Deliver(p, into)
		check() // the same call may have ended meanwhile
	}
	return err
}

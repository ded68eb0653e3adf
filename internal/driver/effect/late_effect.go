package effect

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// lateEffect makes the driver receive the call and act only after its caller has given up. In a
// scenario, a delayRequest longer than the caller's deadline has the same result.
var lateEffect = &Effect{
	Name:       fault.LateEffect,
	InSearches: searchedAs(fault.Belated, fault.Fault{Name: fault.Belatedly, Effect: fault.LateEffect}),
	InWords:    words("the driver did it when the caller had given up"),
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return c.TakeTime(func(p *kernel.Process, into proto.Message) error {
			p.Sleep(c.Deadline() - p.Elapsed() + lateness)
			return c.Deliver(p, into)
		})
	},
}

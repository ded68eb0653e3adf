package effect

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// delayRequestFields and holdRequestFields are the fields of faults that hold a request for a time
// or until they are cleared.
type (
	delayRequestFields struct {
		DelayRequest strict.Duration `json:"delayRequest,omitempty" doc:"The virtual time after which the driver gets the call, even if its caller has given up."`
	}
	holdRequestFields struct {
		HoldRequest bool `json:"holdRequest,omitempty" doc:"The driver gets the call only when the fault is cleared, even if its caller has given up."`
	}
)

// holdRequest makes the call reach the driver later, even after its caller has given up.
var holdRequest = &Effect{
	Name:    fault.HoldRequest,
	Field:   "holdRequest",
	Given:   func(f *Fields) bool { return f.HoldRequest },
	InWords: func(f *fault.Fault) string { return fmt.Sprintf("held%s before the driver saw it", delayInWords(f)) },
	Do:      doHoldRequest,
}

// delayRequest is like holdRequest, but only for some time.
var delayRequest = &Effect{
	Name:    fault.HoldRequest,
	Field:   "delayRequest",
	Given:   func(f *Fields) bool { return f.DelayRequest.Duration > 0 },
	Read:    func(f *Fields, into *fault.Fault) { into.Delay = f.DelayRequest.Duration },
	InWords: holdRequest.InWords,
	Do:      doHoldRequest,
}

func doHoldRequest(c Call, f *fault.Fault) error {
	c.Struck(f)
	return c.TakeTime(func(p *kernel.Process, into proto.Message) error {
		wait(p, f)
		return c.Deliver(p, into)
	})
}

// wait waits for the delay of a fault, or for its end.
func wait(p *kernel.Process, f *fault.Fault) {
	if f.Delay > 0 {
		p.Sleep(f.Delay)
		return
	}
	f.OnClear(p.Wake)
	p.Wait("the end of fault "+f.Name, f.Cleared)
}

func delayInWords(f *fault.Fault) string {
	if f.Delay == 0 {
		return ""
	}
	return fmt.Sprintf(" for %v", f.Delay)
}

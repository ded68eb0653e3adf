package effect

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// delayAnswerFields and holdAnswerFields are the fields of faults that hold an answer for a time or
// until they are cleared.
type (
	delayAnswerFields struct {
		DelayAnswer strict.Duration `json:"delayAnswer,omitempty" doc:"The driver acts at once; its answer arrives after this virtual time."`
	}
	holdAnswerFields struct {
		HoldAnswer bool `json:"holdAnswer,omitempty" doc:"The driver acts at once; its answer arrives when the fault is cleared."`
	}
)

// holdAnswer: the driver acts immediately, and its answer arrives later.
var holdAnswer = &Effect{
	Name:  fault.HoldAnswer,
	Field: "holdAnswer",
	Given: func(f *Fields) bool { return f.HoldAnswer },
	InWords: func(f *fault.Fault) string {
		return fmt.Sprintf("driver did it at once, answer held%s", delayInWords(f))
	},
	Do: doHoldAnswer,
}

// delayAnswer is like holdAnswer, but only for some time.
var delayAnswer = &Effect{
	Name:    fault.HoldAnswer,
	Field:   "delayAnswer",
	Given:   func(f *Fields) bool { return f.DelayAnswer.Duration > 0 },
	Read:    func(f *Fields, into *fault.Fault) { into.Delay = f.DelayAnswer.Duration },
	InWords: holdAnswer.InWords,
	Do:      doHoldAnswer,
}

func doHoldAnswer(c Call, f *fault.Fault) error {
	c.Struck(f)
	return c.TakeTime(func(p *kernel.Process, into proto.Message) error {
		err := c.Deliver(p, into)
		wait(p, f)
		return err
	})
}

package effect

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// lateAnswerFields are the fields of faults that make answers too late.
type lateAnswerFields struct {
	LateAnswer bool `json:"lateAnswer,omitempty" doc:"The driver acts at once; its answer arrives after its caller has given up."`
}

// lateAnswer makes the driver act immediately, but its answer arrives after its caller has given
// up.
var lateAnswer = &Effect{
	Name:       fault.LateAnswer,
	Field:      "lateAnswer",
	Given:      func(f *Fields) bool { return f.LateAnswer },
	InSearches: searchedAs(fault.Late, fault.Fault{Name: "answer late", Effect: fault.LateAnswer}),
	InWords:    words("driver did it at once, answer held until the caller gave up"),
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return c.TakeTime(func(p *kernel.Process, into proto.Message) error {
			err := c.Deliver(p, into)
			p.Sleep(c.Deadline() - p.Elapsed() + lateness)
			return err
		})
	},
}

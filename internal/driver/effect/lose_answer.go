package effect

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
)

// loseAnswerFields are the fields of faults that lose an answer. They may be combined with a code.
type loseAnswerFields struct {
	LoseAnswer bool `json:"loseAnswer,omitempty" doc:"The driver carries out the call; its caller gets the code, by default Unavailable."`
}

// loseAnswer: the driver executes the call, its caller receives an error.
var loseAnswer = &Effect{
	Name:  fault.LoseAnswer,
	Field: "loseAnswer",
	Given: func(f *Fields) bool { return f.LoseAnswer },
	Read: func(f *Fields, into *fault.Fault) {
		into.Code = f.Code.GRPC()
		if f.Code == "" {
			into.Code = codes.Unavailable
		}
	},
	InSearches: searchedAs(fault.Lost, fault.Fault{Name: "answer lost", Effect: fault.LoseAnswer, Code: codes.Unavailable}),
	InWords:    func(f *fault.Fault) string { return fmt.Sprintf("driver did it, answer lost, code %v", f.Code) },
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		_ = c.Pass(Blank(c.Answer()))
		return status.Error(f.Code, f.Message)
	},
}

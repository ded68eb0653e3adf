package effect

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
)

// answerFields are the fields of faults that make calls fail.
type answerFields struct {
	Code    calls.Code `json:"code,omitempty" doc:"The driver does not receive the call; its caller gets this code."`
	Message string     `json:"message,omitempty" doc:"The message of the error; the default states that the error was injected."`
}

// answer sends the caller an error; the driver does not receive the call.
var answer = &Effect{
	Name:  fault.Answer,
	Field: "code",
	Given: func(f *Fields) bool { return f.Code != "" && !f.LoseAnswer },
	Check: func(f *Fields, _ string, c Checker) {
		if f.Code == "OK" {
			c.Report("code", "code OK", "a code that is an error")
		}
	},
	Read: func(f *Fields, into *fault.Fault) { into.Code = f.Code.GRPC() },
	InSearches: func(kind fault.Kind, _ Called) (all []fault.Fault) {
		if kind != fault.Errors {
			return nil
		}
		for _, code := range []codes.Code{codes.Unavailable, codes.Internal, codes.Aborted, codes.DeadlineExceeded} {
			all = append(all, fault.Fault{Name: "fails with " + code.String(), Effect: fault.Answer, Code: code})
		}
		return all
	},
	InWords: func(f *fault.Fault) string { return fmt.Sprintf("code %v", f.Code) },
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return status.Error(f.Code, f.Message)
	},
}

package effect

import "github.com/csisim/csisim/drivers/fault"

// hangFields are the fields of faults that make calls hang.
type hangFields struct {
	Hang bool `json:"hang,omitempty" doc:"The driver never receives the call, and the caller never gets an answer."`
}

// hang: the driver does not receive the call, and its caller gets no answer.
var hang = &Effect{
	Name:    fault.Hang,
	Field:   "hang",
	Given:   func(f *Fields) bool { return f.Hang },
	InWords: words("hung, driver did not see it"),
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		c.Process().WaitUntil("answer to "+c.Method(), c.Deadline(), func() bool { return false })
		return ErrDeadline
	},
}

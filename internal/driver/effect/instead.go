package effect

import (
	"encoding/json"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
)

// insteadFields are the fields of faults that answer in place of the driver.
type insteadFields struct {
	Answer map[string]any `json:"answer,omitempty" example:"{pre_usage: {usage_bytes: 100}}" doc:"The driver does not receive the call; its caller gets this answer, with the fields of the protocol."`
}

// instead makes the caller receive another answer, without the driver receiving the call.
var instead = &Effect{
	Name:  fault.Instead,
	Field: "answer",
	Given: func(f *Fields) bool { return f.Answer != nil },
	Check: checkAnswer,
	// It was YAML.
	Read:    func(f *Fields, into *fault.Fault) { into.Response, _ = json.Marshal(f.Answer) },
	InWords: words("another answer, driver did not see it"),
	Do: func(c Call, f *fault.Fault) error {
		c.Struck(f)
		return status.Convert(protojson.Unmarshal(f.Response, c.Answer())).Err()
	},
}

// checkAnswer reports an answer that the call cannot have.
func checkAnswer(f *Fields, call string, c Checker) {
	if f.Answer == nil || !calls.IsMethod(call) {
		return
	}
	text, err := json.Marshal(f.Answer)
	if err == nil {
		err = calls.CheckAnswer(call, text)
	}
	if err != nil {
		c.Report("answer", err.Error(), "fields of the answer of "+call+", by their names in the protocol")
	}
}

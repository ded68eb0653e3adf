package outcome

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
)

// NoteNamed records the objects that a driver has created or deleted, even if its caller never
// receives the answer. A second object with the same name is a breach in both cases.
func (j *Judge) NoteNamed(c Call, answer proto.Message) {
	named := j.named[c.Driver()]
	if named == nil {
		named = &contract.Named{}
		j.named[c.Driver()] = named
	}
	j.Note(c, named.Answered(c.Method(), c.Request(), answer))
}

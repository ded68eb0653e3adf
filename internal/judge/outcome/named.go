package outcome

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
)

// NoteNamed notes the objects that a driver has made or deleted, even if its caller never receives
// the answer: a second object with the same name is a breach either way.
func (j *Judge) NoteNamed(c Call, answer proto.Message) {
	named := j.named[c.Driver()]
	if named == nil {
		named = &contract.Named{}
		j.named[c.Driver()] = named
	}
	j.Note(c, named.Answered(c.Method(), c.Request(), answer))
}

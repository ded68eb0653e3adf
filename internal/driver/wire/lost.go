package wire

import (
	"fmt"
	"path"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// noteNamed notes the objects that a driver has made or deleted, whether or not its caller ever
// gets the answer: a second object under one name is a breach either way.
func (w *Wire) noteNamed(c *call, answer proto.Message) {
	named := w.named[c.site.Driver]
	if named == nil {
		named = &contract.Named{}
		w.named[c.site.Driver] = named
	}
	w.note(c, named.Answered(c.method, c.request, answer))
}

// recordLost records, once, the answer of a driver that has made something, if its caller did not
// get it: the object may have to be deleted all the same.
func (c *call) recordLost() {
	if c.heard == nil || c.event.Response != nil {
		return
	}
	noun, _, id := contract.Makes(c.request, c.heard)
	if noun != "" {
		c.wire.World.Trace.Add(trace.Entry{
			Kind: trace.AnswerLost, Actor: c.site.Caller, Driver: c.site.Driver, Method: c.method, Request: c.request, Response: c.heard,
			Cause: c.event.Seq, Message: fmt.Sprintf("%s: %s %s", path.Base(c.method), noun, id),
		})
	}
	c.heard = nil
}

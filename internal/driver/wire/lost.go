package wire

import (
	"fmt"
	"path"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// recordLost records, once, the answer of a driver that has created an object if the caller did not
// receive the answer. The object may have to be deleted nevertheless.
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

package wire

import (
	"google.golang.org/protobuf/proto"
)

// Witnessed is a call that passes between its caller and the driver without this wire: it is recorded and held against the CSI
// spec as any other, and no fault befalls it. Who passes it writes its record himself.
type Witnessed struct{ call *call }

// Witness records that a call has begun. The kernel's goroutine calls it, Answered and CallerGone.
func (w *Wire) Witness(site Site, fullMethod string, request proto.Message) *Witnessed {
	event := w.World.Trace.Begin(Entry(site, fullMethod, request))
	return &Witnessed{&call{conn: &conn{wire: w, site: site}, fullMethod: fullMethod, method: shortMethod(fullMethod), request: request, event: event}}
}

// Answered records the outcome, as the caller has it.
func (x *Witnessed) Answered(answer proto.Message, err error) {
	c := x.call
	c.answer = answer
	if err == nil {
		c.heard = answer
		c.wire.noteNamed(c, answer)
	}
	c.end(err)
	c.wire.check(c, err)
}

// CallerGone records that the caller went away before it had the answer.
func (x *Witnessed) CallerGone() { x.call.end(ErrCallerGone) }

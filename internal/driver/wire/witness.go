package wire

import (
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/trace"
)

// Witnessed is a call that passes between its caller and the driver without this wire: it is recorded and held against the CSI
// spec as any other, and no fault befalls it.
type Witnessed struct{ call *call }

// Witness records that a call has begun. The kernel's goroutine calls it, Answered and CallerGone.
func (w *Wire) Witness(site Site, fullMethod string, request proto.Message) *Witnessed {
	method := shortMethod(fullMethod)
	event := w.World.Trace.Begin(trace.Entry{
		Kind: trace.Call, Actor: site.Caller, Node: site.Node, Driver: site.Driver, Method: method, Request: request,
	})
	if w.Observer != nil {
		w.Observer.Began(site, event)
	}
	return &Witnessed{&call{conn: &conn{wire: w, site: site}, fullMethod: fullMethod, method: method, request: request, event: event}}
}

// Event is the call in the trace.
func (x *Witnessed) Event() *trace.Event { return x.call.event }

// InWords are the code and the message of a failure as they are recorded.
func (x *Witnessed) InWords(err error) (code, message string) { return x.call.inWords(err) }

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
	if c.wire.Observer != nil {
		c.wire.Observer.Ended(c.site, c.event)
	}
}

// CallerGone records that the caller went away before it had the answer.
func (x *Witnessed) CallerGone() {
	x.call.end(errCallerGone)
	if x.call.wire.Observer != nil {
		x.call.wire.Observer.Ended(x.call.site, x.call.event)
	}
}

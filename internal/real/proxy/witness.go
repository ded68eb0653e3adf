package proxy

import (
	"context"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/trace"
)

// witnessed is a call on a relay. THE RECORD THAT IT HAS BEGUN IS WRITTEN BEFORE THE DRIVER HAS THE REQUEST, that of its end before
// the caller has the answer, so that a proxy that is killed in between loses neither. Whether it keeps the CSI spec is looked at by
// the kernel, for which nobody waits.
type witnessed struct {
	proxy   *Proxy
	site    wire.Site
	method  string // as gRPC has it
	request proto.Message
	number  uint64 // among the calls on relays
	at      time.Duration
	checked *wire.Witnessed // belongs to the kernel's goroutine
}

// witness writes the record of a call that is about to be made.
func (p *Proxy) witness(caller, method string, content []byte) *witnessed {
	w := &witnessed{
		proxy: p, method: method, number: p.relayed.Add(1), at: time.Since(p.records.began),
		site: wire.Site{Caller: caller, Driver: p.options.Driver, Node: p.options.Node, Machine: p.machine, Socket: p.options.Upstream},
	}
	w.request, _, _ = Messages(method) // it is known
	_ = decode(content, w.request)     // what cannot be read is recorded as far as it can
	w.write(wire.Entry(w.site, method, w.request), true)
	return w
}

// write writes a record of the call.
func (w *witnessed) write(e trace.Entry, open bool) {
	e.At = w.at
	text, err := lineOf(e.Event()).MarshalJSON()
	if err == nil {
		w.proxy.records.append(w.proxy.records.appendText(nil, text, recordTimes{At: int64(w.at), Took: int64(e.Took), Open: open, Relayed: w.number}))
	}
}

// check begins to hold the call against the CSI spec, while the driver works on it.
func (w *witnessed) check() { w.proxy.world.Kernel.Post(func() { w.inKernel() }) }

// inKernel is the call as the kernel looks at it, from when it has begun, or from its end if news of that come first.
func (w *witnessed) inKernel() *wire.Witnessed {
	if w.checked == nil {
		w.proxy.records.writtenAlready(func() { w.checked = w.proxy.wire.Witness(w.site, w.method, w.request) })
	}
	return w.checked
}

// answered writes the outcome. What it says about the driver is looked at by what it returns, when the caller has it.
func (w *witnessed) answered(content []byte, failure error) (later func()) {
	var answer proto.Message
	if failure == nil {
		_, answer, _ = Messages(w.method) // as above
		_ = decode(content, answer)
	}
	w.ended(answer, failure)
	return func() { w.checkAnswer(answer, failure) }
}

// gaveUp records that the caller's deadline has passed.
func (w *witnessed) gaveUp() {
	failure := status.FromContextError(context.DeadlineExceeded).Err()
	w.ended(nil, failure)
	w.checkAnswer(nil, failure)
}

func (w *witnessed) checkAnswer(answer proto.Message, failure error) {
	w.proxy.world.Kernel.Post(func() {
		w.inKernel().Answered(answer, failure)
		w.proxy.records.take()
	})
}

// callerGone records that nobody waits for the answer.
func (w *witnessed) callerGone() {
	w.ended(nil, wire.ErrCallerGone)
	w.proxy.world.Kernel.Post(func() { w.inKernel().CallerGone() })
}

// ended writes the record of the end.
func (w *witnessed) ended(answer proto.Message, failure error) {
	e := wire.Entry(w.site, w.method, nil) // the request is in the record of its beginning
	e.Response, e.Took = answer, time.Since(w.proxy.records.began)-w.at
	if failure != nil {
		e.Code, e.Message = wire.InWords(failure, w.request)
	}
	w.write(e, false)
}

package proxy

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/trace"
)

// witnessed is a call on a relay, as it is recorded.
type witnessed struct {
	proxy          *Proxy
	caller, method string
	request        []byte
	began          chan struct{} // closed when the rest is there
	call           *wire.Witnessed
	line           []byte // the record of its end, as far as it is known when it begins
	at             time.Duration
}

// witness is a call that is about to be made.
func (p *Proxy) witness(caller, method string, request []byte) *witnessed {
	return &witnessed{proxy: p, caller: caller, method: method, request: request, began: make(chan struct{})}
}

// record records that it has been made, while the driver works on it.
func (w *witnessed) record() {
	p := w.proxy
	p.world.Kernel.Post(func() {
		request, _, err := Messages(w.method)
		if err == nil {
			_ = decode(w.request, request) // what cannot be read is recorded as far as it can
		}
		site := wire.Site{Caller: w.caller, Driver: p.options.Driver, Node: p.options.Node, Machine: p.machine, Socket: p.options.Upstream}
		w.call = p.wire.Witness(site, w.method, request)
		line := p.records.begun(w.call.Event())
		line.Req = nil // it is in the record of its beginning
		w.line, _ = line.MarshalJSON()
		w.at = w.call.Event().At
		close(w.began)
	})
}

// answered writes the outcome. What it says about the driver is looked at by what it returns, when the caller has it.
func (w *witnessed) answered(ctx context.Context, content []byte, failure error) (later func()) {
	select {
	case <-w.began:
	case <-ctx.Done(): // the kernel may have ended
		return func() {}
	}
	took := time.Since(w.proxy.records.began) - w.at
	var answer proto.Message
	more := map[string]any{"ms": took.Milliseconds()}
	if failure != nil {
		more["code"], more["msg"] = w.call.InWords(failure)
	} else {
		_, answer, _ = Messages(w.method) // it is known
		_ = decode(content, answer)       // as above
		more["resp"] = lineOf(&trace.Event{Site: &trace.Site{Kind: trace.Call}, Exchange: &trace.Exchange{Response: answer}, Diff: new(trace.Diff)}).Resp
	}
	if text, err := json.Marshal(more); err == nil {
		line := append(append(slices.Clip(w.line[:len(w.line)-1]), ','), text[1:]...)
		w.proxy.records.append(w.proxy.records.appendText(nil, line, w.at, took, false))
	}
	return func() {
		w.proxy.world.Kernel.Post(func() {
			w.proxy.records.forget(w.call.Event())
			w.call.Answered(answer, failure)
		})
	}
}

// gaveUp records that the caller's deadline has passed.
func (w *witnessed) gaveUp() {
	w.proxy.world.Kernel.Post(func() { w.call.Answered(nil, status.FromContextError(context.DeadlineExceeded).Err()) })
}

// callerGone records that nobody waits for the answer.
func (w *witnessed) callerGone() { w.proxy.world.Kernel.Post(func() { w.call.CallerGone() }) }

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
	line    []byte          // of its records, unless it fails
	checked *wire.Witnessed // belongs to the kernel's goroutine
}

// witness writes the record of a call that is about to be made.
func (r *relay) witness(method string, content []byte) *witnessed {
	p := r.proxy
	w := &witnessed{
		proxy: p, method: method, number: p.relayed.Add(1), at: time.Since(p.records.began),
		site: wire.Site{Caller: r.caller, Driver: p.options.Driver, Node: p.options.Node, Machine: p.machine, Socket: p.options.Upstream},
	}
	w.request, _, _ = Messages(method) // it is known
	content = read(content, w.request)
	if w.line = r.lines[method]; w.line == nil {
		w.line = lineOf(wire.Entry(w.site, method, nil).Event())
		r.lines[method] = w.line
	}
	w.write(w.line, record{request: content, recordTimes: recordTimes{Open: true}})
	return w
}

// read reads a message, as far as it can be, and returns what is recorded of it: what has come, unless that has secrets, or what its type
// does not know, or cannot be read.
func read(content []byte, m proto.Message) []byte {
	err := decodeAs(known, content, m)
	if shown := trace.WithoutSecrets(m); shown != m || err != nil || proto.Size(m) != len(content)-messagePrefix {
		return wireOf(shown)
	}
	return content[messagePrefix:]
}

// write writes a record of the call.
func (w *witnessed) write(line []byte, what record) {
	what.At, what.Relayed = int64(w.at), w.number
	w.proxy.records.append(w.proxy.records.appendRecord(nil, line, what))
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
	if failure != nil {
		w.failed(failure)
		return func() { w.checkAnswer(nil, failure) }
	}
	_, answer, _ := Messages(w.method) // as above
	content = read(content, answer)
	w.write(w.line, record{response: content, recordTimes: recordTimes{Took: int64(w.took())}})
	return func() { w.checkAnswer(answer, nil) }
}

// gaveUp records that the caller's deadline has passed.
func (w *witnessed) gaveUp() {
	failure := status.FromContextError(context.DeadlineExceeded).Err()
	w.failed(failure)
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
	w.failed(wire.ErrCallerGone)
	w.proxy.world.Kernel.Post(func() { w.inKernel().CallerGone() })
}

// failed writes the record of an end without an answer.
func (w *witnessed) failed(failure error) {
	e := wire.Entry(w.site, w.method, nil) // the request is in the record of its beginning
	e.Took = w.took()
	e.Code, e.Message = wire.InWords(failure, w.request)
	w.write(lineOf(e.Event()), record{recordTimes: recordTimes{Took: int64(e.Took)}})
}

func (w *witnessed) took() time.Duration { return time.Since(w.proxy.records.began) - w.at }

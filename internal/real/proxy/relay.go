package proxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// relay passes the frames of HTTP/2 between one connection of a caller and one to the driver, as they are, so that a call that no
// fault can befall takes no longer than it must: a second gRPC server and client would take a tenth of a millisecond. It reads
// along what is called and answered. While there are faults it keeps requests from the driver, and the wire makes their calls.
type relay struct {
	proxy        *Proxy
	caller       string
	down, up     net.Conn // to the caller, to the driver
	ctx          context.Context
	end          context.CancelFunc
	writing      sync.Mutex // to the caller
	mu           sync.Mutex
	streams      map[uint32]*stream
	taken        sync.WaitGroup    // calls that the wire makes
	tableless    bool              // the caller's settings have passed
	lines        map[string][]byte // of the records of calls, by method
	window       int               // how much of an answer the caller takes at first
	credited     *sync.Cond        // of mu: a caller takes more, or a call has ended
	fromCaller   *hpack.Decoder
	fromUpstream *hpack.Decoder
}

// stream is a call on a relay.
type stream struct {
	method   string
	deadline time.Time // zero if there is none
	request  []byte    // as gRPC has it
	answer   []byte
	held     []byte // the frames that the driver does not have yet
	owed     int    // how much of them the caller has no credit for
	passed   bool   // the driver has the request
	kept     bool   // the caller has credit of the proxy for its request: the driver must not get it
	seen     *witnessed
	abort    context.CancelFunc // of a call that the wire makes; nil else
	credit   int                // how much of its answer the caller takes
}

// mostHeld is how much of requests is held back without credit: half of what a caller may send before its peer gives it some.
// RFC 9113, 6.9.2
const mostHeld = 1 << 15

// defaultWindow is how much of an answer a caller takes that says nothing. RFC 9113, 6.9.2
const defaultWindow = 1<<16 - 1

// tableSize bounds the tables of headers that callers and drivers may agree on.
const tableSize = 1 << 20

// relay passes frames until the caller or the driver goes away. opening is what the caller has sent already.
func (p *Proxy) relay(ctx context.Context, caller string, down, up net.Conn, opening []byte) {
	r := &relay{proxy: p, caller: caller, down: down, up: up, streams: map[uint32]*stream{}, lines: map[string][]byte{}, fromCaller: hpack.NewDecoder(4096, nil), fromUpstream: hpack.NewDecoder(4096, nil)}
	r.credited, r.window = sync.NewCond(&r.mu), defaultWindow
	r.fromCaller.SetAllowedMaxDynamicTableSize(tableSize)
	r.fromUpstream.SetAllowedMaxDynamicTableSize(tableSize)
	r.ctx, r.end = context.WithCancel(ctx)
	defer r.end()
	stop := context.AfterFunc(r.ctx, func() { down.Close(); up.Close() })
	defer stop()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		r.pump(up, down, &r.writing, r.answered)
		r.lose(status.Error(codes.Unavailable, "error reading from server: EOF"))
		r.answersGoOut()
		r.end()
	}()
	if _, err := up.Write(opening); err == nil {
		r.pump(down, up, new(sync.Mutex), r.asked)
	}
	r.lose(nil)
	r.end()
	<-answered
}

// answersGoOut gives the answers of calls that died with the driver some time.
func (r *relay) answersGoOut() {
	done := make(chan struct{})
	go func() { r.taken.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(answersGoOut):
	case <-r.ctx.Done():
	}
}

// passage is one direction of a relay.
type passage struct {
	out   []byte   // what is to be written
	later []func() // what is done when it has been written: nobody waits for it
}

// pump reads frames until there are no more, and writes what pass makes of them before it would wait for others.
func (r *relay) pump(from io.Reader, to io.Writer, writing *sync.Mutex, pass func(f frame, to *passage) error) {
	in := bufio.NewReaderSize(from, 1<<16)
	var p passage
	for {
		if in.Buffered() == 0 && len(p.out) > 0 {
			writing.Lock()
			_, err := to.Write(p.out)
			writing.Unlock()
			p.finish()
			if err != nil {
				return
			}
		}
		f, err := readFrame(in)
		if err == nil {
			err = pass(f, &p)
		}
		if err != nil {
			p.finish()
			return
		}
	}
}

func (p *passage) finish() {
	for _, what := range p.later {
		what()
	}
	p.out, p.later = p.out[:0], p.later[:0]
}

// stream finds a call, and whether the wire makes it; nil if there is none.
func (r *relay) stream(id uint32) (s *stream, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s = r.streams[id]
	return s, s != nil && s.abort != nil
}

// remove forgets a stream; it is nil if that has happened.
func (r *relay) remove(id uint32) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.streams[id]
	delete(r.streams, id)
	return s
}

// asked passes a frame of the caller.
func (r *relay) asked(f frame, to *passage) error {
	switch f.kind {
	case http2.FrameSettings:
		r.widen(f.window(r.window))
		if !r.tableless && !f.flags.Has(http2.FlagSettingsAck) {
			r.tableless = true
			to.out = append(to.out, f.withoutTable()...)
			return nil
		}
	case http2.FrameHeaders:
		fields, err := fieldsOf(r.fromCaller, f)
		if err != nil {
			return err
		}
		r.begin(f.stream, fields)
	case http2.FrameRSTStream:
		if s := r.remove(f.stream); s != nil {
			if err := r.credit(0, s.settle()); err != nil {
				return err
			}
			s.abandoned(to)
			if s.abort != nil {
				return nil // the driver knows
			}
		}
	case http2.FramePing:
		if !f.flags.Has(http2.FlagPingAck) && len(f.payload) == 8 {
			return r.pong([8]byte(f.payload))
		}
	case http2.FrameWindowUpdate:
		if s, taken := r.stream(f.stream); taken && len(f.payload) == 4 {
			r.mu.Lock()
			s.credit += int(binary.BigEndian.Uint32(f.payload))
			r.mu.Unlock()
			r.credited.Broadcast()
			return nil
		}
	case http2.FrameData:
		s, _ := r.stream(f.stream)
		if s == nil || s.passed {
			break
		}
		return r.hold(f, s, to)
	}
	to.out = append(to.out, f.raw...)
	return nil
}

// hold takes a frame of a request. The driver gets the frames when all are there, unless a fault can befall the call, or the request is
// so large that its caller waits for credit: the wire makes the call then.
func (r *relay) hold(f frame, s *stream, to *passage) error {
	s.request, s.held = append(s.request, f.payload...), append(s.held, f.raw...)
	s.owed += dataIn(f.raw)
	if s.kept = s.kept || r.owed() > mostHeld; s.kept && !f.endsStream() {
		size := s.settle()
		return errors.Join(r.credit(f.stream, size), r.credit(0, size))
	}
	if !f.endsStream() {
		return nil
	}
	if s.kept || !r.proxy.calm.Load() {
		return r.take(f.stream, s, to)
	}
	seen := r.witness(s.method, s.request)
	r.mu.Lock()
	s.passed, s.seen = true, seen
	r.mu.Unlock()
	to.out, to.later = append(to.out, s.held...), append(to.later, seen.check)
	s.settle() // the driver gives credit for it
	return nil
}

// owed is how much the caller has no credit for, of all requests.
func (r *relay) owed() (size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.streams {
		size += s.owed
	}
	return size
}

// settle is how much credit the caller gets for what was held until now.
func (s *stream) settle() (size int) {
	size, s.owed, s.held = s.owed, 0, nil
	return size
}

// credit lets the caller send so much more, on a stream or, if it is 0, on the connection.
func (r *relay) credit(stream uint32, size int) error {
	if size == 0 {
		return nil
	}
	return r.control(func(to *http2.Framer) error { return to.WriteWindowUpdate(stream, uint32(size)) })
}

// widen notes how much of an answer the caller takes at first, of those too that are on their way. RFC 9113, 6.9.2
func (r *relay) widen(window int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.streams {
		s.credit += window - r.window
	}
	r.window = window
	r.credited.Broadcast()
}

// pong answers a ping of the caller: gRPC sends one for answers that come, and a driver that has not sent them takes them for abuse.
func (r *relay) pong(data [8]byte) error {
	return r.control(func(to *http2.Framer) error { return to.WritePing(true, data) })
}

// control writes a frame to the caller that is no part of an answer.
func (r *relay) control(write func(*http2.Framer) error) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	return write(http2.NewFramer(r.down, nil))
}

// begin notes a call whose method is known.
func (r *relay) begin(id uint32, h headers) {
	if _, _, err := Messages(h.path); err != nil {
		return
	}
	s := &stream{method: h.path}
	if limit, ok := timeout(h.timeout); ok {
		s.deadline = time.Now().Add(limit)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.streams[id] = s
}

// timeout reads a number and its unit, as gRPC has them.
func timeout(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'n': time.Nanosecond, 'u': time.Microsecond, 'm': time.Millisecond, 'S': time.Second, 'M': time.Minute, 'H': time.Hour}
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text[:len(text)-1], 10, 64)
	unit := units[text[len(text)-1]]
	if err != nil || unit == 0 || n > int64(patient/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// take has the wire make a call, on a connection of its own: the driver forgets this stream, and the caller gets credit for what
// it will not read.
func (r *relay) take(id uint32, s *stream, to *passage) error {
	if err := r.credit(0, s.settle()); err != nil {
		return err
	}
	ctx, abort := context.WithCancel(r.ctx)
	if !s.deadline.IsZero() {
		ctx, abort = context.WithDeadline(r.ctx, s.deadline)
	}
	r.mu.Lock()
	s.passed, s.abort, s.credit = true, abort, r.window
	r.mu.Unlock()
	r.taken.Add(1)
	go func() {
		defer r.taken.Done()
		defer abort()
		request, answer, err := Messages(s.method)
		if err == nil {
			err = decode(s.request, request)
		}
		if err == nil {
			err = r.proxy.asSeenBy(r.caller, r.proxy.pass(ctx, r.caller, s.method, request, answer))
		}
		out, err := answerFrames(id, answer, err)
		if err != nil || !r.inject(id, s, out) {
			r.end()
		}
		r.remove(id)
		r.credited.Broadcast()
	}()
	return http2.NewFramer(to, nil).WriteRSTStream(id, http2.ErrCodeCancel)
}

// inject writes an answer, as its caller takes it, and reports whether it could.
func (r *relay) inject(id uint32, s *stream, frames [][]byte) bool {
	stop := context.AfterFunc(r.ctx, r.credited.Broadcast)
	defer stop()
	for _, out := range frames {
		r.mu.Lock()
		for size := dataIn(out); size > 0 && s.credit < size && r.streams[id] != nil && r.ctx.Err() == nil; {
			r.credited.Wait()
		}
		given := r.streams[id] == nil
		s.credit -= dataIn(out)
		r.mu.Unlock()
		if given {
			return true // the caller has given it up
		}
		r.writing.Lock()
		_, err := r.down.Write(out)
		r.writing.Unlock()
		if err != nil {
			return false
		}
	}
	return true
}

// Write adds to what is to be written.
func (p *passage) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

// answered passes a frame of the driver, and the end of an answer when it has been recorded.
func (r *relay) answered(f frame, to *passage) error {
	var fields headers
	if f.kind == http2.FrameHeaders {
		var err error
		if fields, err = fieldsOf(r.fromUpstream, f); err != nil {
			return err
		}
	}
	s, taken := r.stream(f.stream)
	if taken {
		return nil // the wire answers
	}
	to.out = append(to.out, f.raw...)
	switch {
	case s == nil:
	case f.kind == http2.FrameData:
		s.answer = append(s.answer, f.payload...)
	case f.endsStream():
		r.ended(f.stream, fields.outcome(), to)
	case f.kind == http2.FrameRSTStream && len(f.payload) == 4:
		r.ended(f.stream, reset(http2.ErrCode(binary.BigEndian.Uint32(f.payload))), to)
	}
	return nil
}

// ended records the outcome of a call that the driver has got, unless its caller has given it up meanwhile.
func (r *relay) ended(id uint32, failure error, to *passage) {
	if s := r.remove(id); s != nil && s.seen != nil {
		to.later = append(to.later, s.seen.answered(s.answer, failure))
	}
}

// lose ends the calls that are under way: with the driver, or, if failure is nil, with the caller.
func (r *relay) lose(failure error) {
	r.mu.Lock()
	var all []*stream
	for id, s := range r.streams {
		if s.abort == nil || failure == nil {
			all = append(all, s)
			delete(r.streams, id)
		}
	}
	r.mu.Unlock()
	var p passage
	for _, s := range all {
		switch {
		case failure == nil:
			s.abandoned(&p)
		case s.seen != nil:
			p.later = append(p.later, s.seen.answered(nil, failure))
		}
	}
	p.finish()
}

// abandoned is a call whose caller has given up.
func (s *stream) abandoned(to *passage) {
	switch {
	case s.abort != nil:
		s.abort()
	case s.seen != nil && !s.deadline.IsZero() && time.Until(s.deadline) < slack:
		to.later = append(to.later, s.seen.gaveUp)
	case s.seen != nil:
		to.later = append(to.later, s.seen.callerGone)
	}
}

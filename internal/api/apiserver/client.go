package apiserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Config returns the configuration of a client-go client in the same process, which needs no
// socket.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host: "http://csisim", BearerToken: s.options.Token, Transport: inProcess{s}, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: typeProtobuf, AcceptContentTypes: typeProtobuf + "," + typeJSON},
	}
}

// inProcess passes requests to a server.
type inProcess struct{ handler http.Handler }

// RoundTrip returns the complete response, unless the request may be a watch.
func (t inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	if strings.Contains(r.URL.RawQuery, "watch") {
		return t.stream(r)
	}
	w := &wholeAnswer{header: http.Header{}}
	t.handler.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	return answered(r, w.code, w.header, io.NopCloser(&w.body), int64(w.body.Len())), nil
}

func answered(r *http.Request, code int, header http.Header, body io.ReadCloser, length int64) *http.Response {
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: length, Request: r,
	}
}

// wholeAnswer is a ResponseWriter that collects the complete body.
type wholeAnswer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (w *wholeAnswer) Header() http.Header { return w.header }

func (w *wholeAnswer) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
}

func (w *wholeAnswer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// stream returns as soon as the header of the response is known. The body can be read while it is
// written, for example the body of a watch.
func (t inProcess) stream(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	w := &pipedAnswer{header: http.Header{}, begun: make(chan struct{})}
	w.body.news = sync.NewCond(&w.body.lock)
	w.body.closed = cancel
	go func() {
		defer cancel()
		defer w.body.end()
		defer w.WriteHeader(http.StatusOK)
		t.handler.ServeHTTP(w, r.WithContext(ctx))
	}()
	select {
	case <-w.begun:
	case <-r.Context().Done():
		cancel()
		return nil, r.Context().Err()
	}
	return answered(r, w.code, w.sent, &w.body, -1), nil
}

// pipedAnswer is a ResponseWriter with a body that another goroutine reads.
type pipedAnswer struct {
	header, sent http.Header
	code         int
	begun        chan struct{}
	body         pipe
}

func (w *pipedAnswer) Header() http.Header { return w.header }

func (w *pipedAnswer) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
		close(w.begun)
	}
}

func (w *pipedAnswer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.write(b)
}

// Flush implements http.Flusher: written bytes can be read at once.
func (w *pipedAnswer) Flush() { w.WriteHeader(http.StatusOK) }

// maxUnread bounds the bytes that a slow reader may leave before its writer waits.
const maxUnread = 1 << 20

// pipe is a buffer between a writer and a reader.
type pipe struct {
	lock   sync.Mutex
	news   *sync.Cond
	buffer bytes.Buffer
	ended  bool
	closed context.CancelFunc
}

func (p *pipe) write(b []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.buffer.Len() > maxUnread && !p.ended {
		p.news.Wait()
	}
	if p.ended {
		return 0, io.ErrClosedPipe
	}
	p.news.Broadcast()
	return p.buffer.Write(b)
}

func (p *pipe) end() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.ended = true
	p.news.Broadcast()
}

// Read waits for the next bytes.
func (p *pipe) Read(b []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.buffer.Len() == 0 && !p.ended {
		p.news.Wait()
	}
	p.news.Broadcast()
	return p.buffer.Read(b)
}

// Close ends the request.
func (p *pipe) Close() error {
	p.closed()
	p.end()
	return nil
}

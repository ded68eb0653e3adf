package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// handshake is the first byte of a connection whose client wants TLS. No request begins
// with it.
const handshake = 0x16

// port is one port for two ways of speaking: who begins with a TLS handshake gets it, as
// kubectl does, who sends tokens over TLS only; all others speak plain HTTP, as browsers
// do, who would warn of a certificate that nobody vouches for.
type port struct {
	net.Listener
	secure *tls.Config
	// silence is how long a client may say nothing at all.
	silence  time.Duration
	open     context.Context // until Close
	shut     context.CancelFunc
	receive  sync.Once
	arrivals chan arrival
}

// arrival is what Accept returns.
type arrival struct {
	conn net.Conn
	err  error
}

func newPort(listener net.Listener, certificate tls.Certificate) *port {
	p := &port{Listener: listener, silence: 10 * time.Second, arrivals: make(chan arrival)}
	p.secure = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	p.open, p.shut = context.WithCancel(context.Background())
	return p
}

// Accept returns a connection once it is known how its client speaks: one with TLS is a
// *tls.Conn.
func (p *port) Accept() (net.Conn, error) {
	p.receive.Do(func() { go p.receiveAll() })
	select {
	case a := <-p.arrivals:
		return a.conn, a.err
	case <-p.open.Done():
		return nil, net.ErrClosed
	}
}

// Close ends those connections, too, on which nothing was said yet.
func (p *port) Close() error {
	p.shut()
	return p.Listener.Close()
}

func (p *port) receiveAll() {
	for p.open.Err() == nil {
		conn, err := p.Listener.Accept()
		if err != nil {
			p.hand(arrival{err: err})
			continue
		}
		go p.listenTo(conn)
	}
}

// hand gives to Accept and reports whether it was taken.
func (p *port) hand(a arrival) bool {
	select {
	case p.arrivals <- a:
		return true
	case <-p.open.Done():
		return false
	}
}

// listenTo waits for a client's first byte. Who does not send it is gone.
func (p *port) listenTo(conn net.Conn) {
	unheard := context.AfterFunc(p.open, func() { _ = conn.Close() })
	first := make([]byte, 1)
	_ = conn.SetReadDeadline(time.Now().Add(p.silence)) // if it fails, so does reading
	_, err := conn.Read(first)
	_ = conn.SetReadDeadline(time.Time{})
	if !unheard() || err != nil {
		_ = conn.Close()
		return
	}
	var heard net.Conn = &begun{conn, io.MultiReader(bytes.NewReader(first), conn)}
	if first[0] == handshake {
		heard = tls.Server(heard, p.secure)
	}
	if !p.hand(arrival{conn: heard}) {
		_ = conn.Close()
	}
}

// begun is a connection whose first byte was looked at.
type begun struct {
	net.Conn
	all io.Reader
}

func (b *begun) Read(into []byte) (int, error) { return b.all.Read(into) }

package page

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// handshake is the first byte of a TLS connection. No HTTP request begins with it.
const handshake = 0x16

// Port serves TLS and plain HTTP on one port. Connections that begin with a TLS handshake get TLS:
// kubectl sends tokens over TLS only. All others get plain HTTP: browsers would warn about a
// self-signed certificate.
type Port struct {
	net.Listener
	secure *tls.Config
	// silence bounds the time until a client sends its first byte.
	silence  time.Duration
	open     context.Context // until Close
	shut     context.CancelFunc
	receive  sync.Once
	arrivals chan arrival
}

// arrival is a result of Accept.
type arrival struct {
	conn net.Conn
	err  error
}

// NewPort returns the port of a listener, with a certificate for TLS.
func NewPort(listener net.Listener, certificate tls.Certificate) *Port {
	p := &Port{Listener: listener, silence: 10 * time.Second, arrivals: make(chan arrival)}
	p.secure = &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	p.open, p.shut = context.WithCancel(context.Background())
	return p
}

// Accept returns a connection as soon as its first byte shows the protocol. A TLS connection is a
// *tls.Conn.
func (p *Port) Accept() (net.Conn, error) {
	p.receive.Do(func() { go p.receiveAll() })
	select {
	case a := <-p.arrivals:
		return a.conn, a.err
	case <-p.open.Done():
		return nil, net.ErrClosed
	}
}

// Close also ends the connections that have not sent anything yet.
func (p *Port) Close() error {
	p.shut()
	return p.Listener.Close()
}

func (p *Port) receiveAll() {
	for p.open.Err() == nil {
		conn, err := p.Listener.Accept()
		if err != nil {
			p.hand(arrival{err: err})
			continue
		}
		go p.detectProtocol(conn)
	}
}

// hand passes a connection to Accept, and reports whether Accept accepted it.
func (p *Port) hand(a arrival) bool {
	select {
	case p.arrivals <- a:
		return true
	case <-p.open.Done():
		return false
	}
}

// detectProtocol waits for a client's first byte, and closes the connection if there is none.
func (p *Port) detectProtocol(conn net.Conn) {
	stop := context.AfterFunc(p.open, func() { _ = conn.Close() })
	first := make([]byte, 1)
	_ = conn.SetReadDeadline(time.Now().Add(p.silence)) // if this fails, the read fails, too
	_, err := conn.Read(first)
	_ = conn.SetReadDeadline(time.Time{})
	if !stop() || err != nil {
		_ = conn.Close()
		return
	}
	var accepted net.Conn = &peekedConn{conn, io.MultiReader(bytes.NewReader(first), conn)}
	if first[0] == handshake {
		accepted = tls.Server(accepted, p.secure)
	}
	if !p.hand(arrival{conn: accepted}) {
		_ = conn.Close()
	}
}

// peekedConn is a connection of which the first byte has already been read.
type peekedConn struct {
	net.Conn
	all io.Reader
}

func (b *peekedConn) Read(into []byte) (int, error) { return b.all.Read(into) }

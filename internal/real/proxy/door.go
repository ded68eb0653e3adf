package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
)

// door is the socket for one caller. While the driver is dead it is shut, as the driver's own would be.
type door struct {
	caller, path, upstream string
	handler                grpc.StreamHandler
	relay                  func(ctx context.Context, down, up net.Conn, opening []byte)
	live                   context.Context
	failed                 chan<- error

	mu      sync.Mutex
	server  *grpc.Server // nil while it is shut
	close   func()       // ends its connections
	awaited bool         // that the driver serves again
}

// open binds the socket, unless it is bound.
func (d *door) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil || d.live.Err() != nil {
		return nil
	}
	listener, err := bind(d.path)
	if err != nil {
		return fmt.Errorf("listen for %s at %s: %w", d.caller, d.path, err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // shut does, or a dead driver's stays
	d.server = grpc.NewServer(grpc.UnknownServiceHandler(d.handler))
	open, close := context.WithCancel(d.live)
	unserved := &handed{Listener: listener, conns: make(chan net.Conn), open: open}
	d.close = func() { close(); listener.Close() }
	go d.accept(open, listener, unserved)
	go func(server *grpc.Server) {
		if err := server.Serve(unserved); err != nil && open.Err() == nil {
			d.failed <- fmt.Errorf("serve %s: %w", d.caller, err)
		}
	}(d.server)
	return nil
}

// accept hands connections over to relays, those that find no driver to the server, which says so in the driver's place.
func (d *door) accept(open context.Context, listener net.Listener, unserved *handed) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			if open.Err() == nil {
				d.failed <- fmt.Errorf("serve %s: %w", d.caller, err)
			}
			return
		}
		go func() {
			opening := make([]byte, len(http2.ClientPreface))
			stop := context.AfterFunc(open, func() { conn.Close() })
			defer stop()
			if _, err := io.ReadFull(conn, opening); err != nil {
				conn.Close() // it only looked whether somebody listens
				return
			}
			up, err := net.Dial("unix", d.upstream)
			if err != nil {
				stop()
				unserved.hand(&begun{Conn: conn, read: opening})
				return
			}
			d.relay(open, conn, up, opening)
		}()
	}
}

// handed is a listener whose connections were accepted elsewhere.
type handed struct {
	net.Listener
	conns chan net.Conn
	open  context.Context
}

func (h *handed) hand(conn net.Conn) {
	select {
	case h.conns <- conn:
	case <-h.open.Done():
		conn.Close()
	}
}

// Accept waits for the next one.
func (h *handed) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.open.Done():
		return nil, net.ErrClosed
	}
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	read []byte
}

// Read gives that first.
func (b *begun) Read(into []byte) (int, error) {
	if len(b.read) == 0 {
		return b.Conn.Read(into)
	}
	n := copy(into, b.read)
	b.read = b.read[n:]
	return n, nil
}

// shut ends the connections, and new ones are refused. A driver that has ended in order removes its socket.
func (d *door) shut(remove bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		d.close()
		d.server.Stop()
		d.server = nil
	}
	if remove {
		_ = os.Remove(d.path) // it may be gone
	}
}

const (
	// answersGoOut is how long the answers of calls that died with the driver may take to their callers.
	answersGoOut = 50 * time.Millisecond
	// lookAgain is how often it is looked whether the driver serves again.
	lookAgain = 20 * time.Millisecond
)

// driverGone shuts the doors of the callers that stay connected, which are the sidecars, until the driver serves again: most
// of them exit when they lose the connection. The kubelet connects for each operation, and finds nobody behind its door; of
// a driver that has ended in order it finds no socket.
func (p *Proxy) driverGone(inOrder bool) {
	for _, d := range p.doors {
		if d.caller != "kubelet" || inOrder {
			d.shutUntilServed(inOrder)
		}
	}
}

func (d *door) shutUntilServed(remove bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.awaited {
		return
	}
	d.awaited = true
	go func() {
		time.Sleep(answersGoOut)
		d.shut(remove)
		for d.live.Err() == nil && !serves(d.upstream) {
			time.Sleep(lookAgain)
		}
		d.mu.Lock()
		d.awaited = false
		d.mu.Unlock()
		if err := d.open(); err != nil {
			d.failed <- err
		}
	}()
}

// serves reports whether somebody listens at a socket.
func serves(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

package proxy

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// door is the socket for one caller. While the driver is dead it refuses connections, like the
// driver's own socket.
type door struct {
	caller, path, upstream string
	handler                grpc.StreamHandler
	live                   context.Context
	failed                 chan<- error

	mu      sync.Mutex
	server  *grpc.Server // nil while it is shut
	awaited bool         // waiting for the driver to serve again
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
	server := grpc.NewServer(grpc.UnknownServiceHandler(d.handler))
	d.server = server
	go func() {
		if err := server.Serve(listener); err != nil {
			d.failed <- fmt.Errorf("serve %s: %w", d.caller, err)
		}
	}()
	return nil
}

// shut closes the connections and refuses new ones. A driver that has ended in order removes its
// socket.
func (d *door) shut(remove bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		d.server.Stop()
		d.server = nil
	}
	if remove {
		_ = os.Remove(d.path) // it may be missing
	}
}

const (
	// answersGoOut is the time to deliver the answers of calls that failed with the driver.
	answersGoOut = 50 * time.Millisecond
	// lookAgain is the interval of checks that the driver serves again.
	lookAgain = 20 * time.Millisecond
)

// driverGone shuts the doors of the sidecars until the driver serves again, since most of them exit
// when they lose the connection. The kubelet connects for each operation and gets the driver's
// error; for a driver that has ended in order it finds no socket.
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
		if remove {
			_ = os.Remove(d.path) // it may be missing
		}
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

// serves reports whether a process listens at a socket.
func serves(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

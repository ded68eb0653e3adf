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

// door is the socket for one caller. While the driver is dead it is shut, as the driver's own would be.
type door struct {
	caller, path, upstream string
	handler                grpc.StreamHandler
	live                   context.Context
	failed                 chan<- error

	mu      sync.Mutex
	server  *grpc.Server // nil while it is shut
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
	server := grpc.NewServer(grpc.UnknownServiceHandler(d.handler))
	d.server = server
	go func() {
		if err := server.Serve(listener); err != nil {
			d.failed <- fmt.Errorf("serve %s: %w", d.caller, err)
		}
	}()
	return nil
}

// shut ends the connections, and new ones are refused. A driver that has ended in order removes its socket.
func (d *door) shut(remove bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
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
		if remove {
			_ = os.Remove(d.path) // it may be gone
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

// serves reports whether somebody listens at a socket.
func serves(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

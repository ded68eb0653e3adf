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

// callerSocket is the socket for one caller. While the driver is down it refuses connections, like
// the driver's own socket.
type callerSocket struct {
	caller, path, upstream string
	handler                grpc.StreamHandler
	live                   context.Context
	failed                 chan<- error

	mu      sync.Mutex
	server  *grpc.Server // nil while it is closed
	awaited bool         // waiting for the driver to serve again
}

// open binds the socket, unless it is bound.
func (s *callerSocket) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil || s.live.Err() != nil {
		return nil
	}
	listener, err := bind(s.path)
	if err != nil {
		return fmt.Errorf("listen for %s at %s: %w", s.caller, s.path, err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // shut removes it, except after a kill
	server := grpc.NewServer(grpc.UnknownServiceHandler(s.handler))
	s.server = server
	go func() {
		if err := server.Serve(listener); err != nil {
			s.failed <- fmt.Errorf("serve %s: %w", s.caller, err)
		}
	}()
	return nil
}

// shut closes the connections and refuses new ones. It removes the socket if the driver has ended
// cleanly.
func (s *callerSocket) shut(remove bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		s.server.Stop()
		s.server = nil
	}
	if remove {
		_ = os.Remove(s.path) // it may be missing
	}
}

const (
	// answersGoOut is the time to deliver the answers of calls that failed with the driver.
	answersGoOut = 50 * time.Millisecond
	// lookAgain is the interval of checks whether the driver serves again.
	lookAgain = 20 * time.Millisecond
)

// driverGone closes the sockets of the sidecars until the driver serves again, because most
// sidecars exit when they lose the connection. The kubelet connects for each operation and gets the
// driver's error. If the driver has ended cleanly, the kubelet finds no socket.
func (p *Proxy) driverGone(inOrder bool) {
	for _, s := range p.sockets {
		if s.caller != "kubelet" || inOrder {
			s.shutUntilServed(inOrder)
		}
	}
}

func (s *callerSocket) shutUntilServed(remove bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.awaited {
		if remove {
			_ = os.Remove(s.path) // it may be missing
		}
		return
	}
	s.awaited = true
	go func() {
		time.Sleep(answersGoOut)
		s.shut(remove)
		for s.live.Err() == nil && !serves(s.upstream) {
			time.Sleep(lookAgain)
		}
		s.mu.Lock()
		s.awaited = false
		s.mu.Unlock()
		if err := s.open(); err != nil {
			s.failed <- err
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

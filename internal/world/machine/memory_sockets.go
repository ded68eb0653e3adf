package machine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// memoryListener is a Go server at a socket in memory.
type memoryListener struct {
	machine  *Memory
	node     *inode
	path     string
	services []Service
	dead     bool
}

// BindSocket serves gRPC services at a unix socket.
func (m *Memory) BindSocket(p string, services ...Service) (Listener, error) {
	l := &memoryListener{machine: m, path: p, services: services}
	err := m.change(func() error {
		if err := m.mkdirAll(above(clean(p)), 0o700); err != nil {
			return err
		}
		node, err := m.create(p, fs.ModeSocket|0o777&^umask)
		if err != nil {
			return err
		}
		node.inside = l
		l.node = node
		m.listeners = append(m.listeners, l)
		return nil
	})
	if err != nil {
		return nil, listenError(p, err)
	}
	return l, nil
}

func listenError(p string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		err = syscall.EADDRINUSE
	}
	return fmt.Errorf("listen unix %s: bind: %w", p, err)
}

// Close ends the server and removes its socket file.
func (l *memoryListener) Close() error {
	return l.machine.change(func() error {
		if l.dead {
			return nil
		}
		l.machine.forget(l)
		if !l.node.deleted {
			l.machine.notify(Removed, l.node)
			l.node.unlink()
		}
		return nil
	})
}

// Abandon ends the server and keeps its socket file.
func (l *memoryListener) Abandon() {
	l.machine.mu.Lock()
	defer l.machine.mu.Unlock()
	l.machine.forget(l)
}

func (l *memoryListener) die() {
	l.dead = true
	l.node.inside = nil
}

func (m *Memory) forget(l *memoryListener) {
	l.die()
	m.listeners = slices.DeleteFunc(m.listeners, func(other *memoryListener) bool { return other == l })
}

// DialSocket returns a client that calls the Go server at path directly.
func (m *Memory) DialSocket(p string) (grpc.ClientConnInterface, io.Closer, error) {
	conn := &memoryConn{machine: m, path: p}
	return conn, conn, nil
}

// serving returns the server that is now at a socket.
func (m *Memory) serving(p string) (l *memoryListener, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if err != nil {
			return dialError(p, err)
		}
		if l = at.node.server(); l == nil {
			return dialError(p, syscall.ECONNREFUSED)
		}
		return nil
	})
	return l, err
}

// dialError has the message of a gRPC client after a failed dial, because people search for it.
func dialError(p string, cause error) error {
	failed := &net.OpError{
		Op: "dial", Net: "unix", Addr: &net.UnixAddr{Name: p, Net: "unix"}, Err: os.NewSyscallError("connect", cause),
	}
	return status.Errorf(codes.Unavailable, "connection error: desc = %q", "transport: Error while dialing: "+failed.Error())
}

package machine

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path"
	"slices"
	"sync"

	"google.golang.org/grpc"
)

// diskListener is a gRPC server at a unix socket.
type diskListener struct {
	d      *Disk
	real   string
	server *grpc.Server
	served chan struct{} // closed when Serve has returned
	once   sync.Once
}

// BindSocket serves gRPC services at a unix socket.
func (d *Disk) BindSocket(p string, services ...Service) (Listener, error) {
	if err := d.MkdirAll(path.Dir(path.Clean(p)), 0o700); err != nil {
		return nil, listenError(p, err)
	}
	l := &diskListener{d: d, real: d.within(p), server: grpc.NewServer(), served: make(chan struct{})}
	for _, service := range services {
		l.server.RegisterService(service.Desc, service.Server)
	}
	if err := d.change(l.real, l.listen); err != nil {
		return nil, listenError(p, err)
	}
	d.mu.Lock()
	d.listeners = append(d.listeners, l)
	d.mu.Unlock()
	return l, nil
}

// listen creates the socket and serves immediately, because a process that sees the socket may call
// it.
func (l *diskListener) listen() error {
	if len(l.real) > maxSocketPath {
		return &SocketPathError{Path: l.real}
	}
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: l.real, Net: "unix"})
	if err != nil {
		return cause(err)
	}
	socket.SetUnlinkOnClose(false) // the file may be visible only to the machine's thread
	go func() {
		defer close(l.served)
		_ = l.server.Serve(socket) // stop closes the socket, which ends this goroutine
	}()
	return nil
}

// Close ends the server and removes its socket file.
func (l *diskListener) Close() error {
	var err error
	l.once.Do(func() {
		l.forget()
		l.stop()
		err = l.d.change(l.real, func() error { return os.Remove(l.real) })
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Abandon ends the server and keeps its socket file.
func (l *diskListener) Abandon() {
	l.forget()
	l.end()
}

func (l *diskListener) end() { l.once.Do(l.stop) }

func (l *diskListener) stop() {
	l.server.Stop()
	<-l.served
}

func (l *diskListener) forget() {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	l.d.listeners = slices.DeleteFunc(l.d.listeners, func(other *diskListener) bool { return other == l })
}

// dial connects to a socket. Its errors contain the node's path.
func (d *Disk) dial(ctx context.Context, p string) (conn net.Conn, err error) {
	real := d.within(p)
	if len(real) > maxSocketPath {
		return nil, &SocketPathError{Path: real}
	}
	err = d.do(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", real)
		return err
	})
	var op *net.OpError
	if errors.As(err, &op) {
		op.Addr = &net.UnixAddr{Name: p, Net: "unix"}
	}
	return conn, err
}

// cause returns the errno within an error of package net.
func cause(err error) error {
	var syscallError *os.SyscallError
	if errors.As(err, &syscallError) {
		return syscallError.Err
	}
	return err
}

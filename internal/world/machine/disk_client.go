package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// diskConn is a gRPC client of a unix socket. It behaves like a client that dials for every call,
// such as the kubelet (K-RPC-2). It drops a failed connection, and the next call immediately dials
// again instead of waiting for a back-off. The next call also dials again if the socket at the path
// was replaced or removed.
type diskConn struct {
	d    *Disk
	path string

	mu     sync.Mutex
	conn   *grpc.ClientConn
	socket fs.FileInfo        // the socket that conn is connected to; nil before the first call
	former []*grpc.ClientConn // calls may still be in progress on them
}

// DialSocket returns a client of the server at path.
func (d *Disk) DialSocket(p string) (grpc.ClientConnInterface, io.Closer, error) {
	c := &diskConn{d: d, path: p}
	conn, err := c.connect()
	if err != nil {
		return nil, nil, err
	}
	c.conn = conn
	return c, c, nil
}

// connect prepares a connection; the first call dials.
func (c *diskConn) connect() (*grpc.ClientConn, error) {
	if real := c.d.within(c.path); len(real) > maxSocketPath {
		return nil, fmt.Errorf("dial unix %s: %w", c.path, &SocketPathError{Path: real})
	}
	return grpc.NewClient("passthrough:///"+c.path,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithAuthority("localhost"),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return c.d.dial(ctx, c.path) }))
}

// Invoke makes one unary call.
func (c *diskConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	conn, err := c.current()
	if err != nil {
		return err
	}
	return c.judge(conn, conn.Invoke(ctx, method, args, reply, opts...))
}

// NewStream starts a streaming call.
func (c *diskConn) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	conn, err := c.current()
	if err != nil {
		return nil, err
	}
	stream, err := conn.NewStream(ctx, desc, method, opts...)
	return stream, c.judge(conn, err)
}

// Close ends the client.
func (c *diskConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.conn.Close()
	for _, former := range c.former {
		_ = former.Close() // late responses have no caller
	}
	return err
}

// current returns a connection to the socket that is now at the path.
func (c *diskConn) current() (*grpc.ClientConn, error) {
	is := c.d.socketAt(c.path)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.socket != nil && !os.SameFile(c.socket, is) {
		fresh, err := c.connect()
		if err != nil {
			return nil, err
		}
		c.former = append(c.former, c.conn)
		c.conn = fresh
	}
	c.socket = is
	return c.conn, nil
}

// socketAt returns the socket at a path. It is nil if there is none; dialling then returns the
// error. It runs before each call, so it does not use the machine's thread.
func (d *Disk) socketAt(p string) (is fs.FileInfo) {
	if d.own != nil {
		var err error
		_ = withFiles(func() error {
			is, err = d.own.lstat(d.within(p))
			return nil
		})
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return is
		}
	}
	is, _ = d.Lstat(p)
	return is
}

// judge replaces a connection after a call that could not reach the server.
func (c *diskConn) judge(used *grpc.ClientConn, err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != used {
		return err
	}
	fresh, dialErr := c.connect()
	if dialErr != nil {
		return err
	}
	c.conn = fresh
	_ = used.Close() // fails only if it is already closed
	return err
}

package sshd

import (
	"context"
	"fmt"
	"io"
	"net"

	"golang.org/x/crypto/ssh"
)

// port is the port at which nodes serve SSH.
const port = 22

// direct is the destination that a client requests. RFC 4254, 7.2
type direct struct {
	Host       string
	Port       uint32
	From       string
	OriginPort uint32
}

// connect serves a connection to a node that is forwarded through the client's connection.
func (s *Server) connect(ctx context.Context, requested ssh.NewChannel) {
	var to direct
	if err := ssh.Unmarshal(requested.ExtraData(), &to); err != nil {
		_ = requested.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	node := s.find(func(n Names) bool { return to.Host == n.Address || to.Host == n.Name })
	if node == nil || to.Port != port {
		_ = requested.Reject(ssh.ConnectionFailed, fmt.Sprintf("%s:%d is not port %d of a node", to.Host, to.Port, port))
		return
	}
	channel, requests, err := requested.Accept()
	if err != nil {
		return // the client has disconnected
	}
	go ssh.DiscardRequests(requests)
	inner, outer := net.Pipe()
	go func() {
		_, _ = io.Copy(outer, channel)
		_ = outer.Close()
	}()
	go func() {
		_, _ = io.Copy(channel, outer)
		_ = channel.Close()
	}()
	s.welcome(ctx, inner, node)
}

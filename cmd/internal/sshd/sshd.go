// Package sshd serves SSH to the nodes of a live cluster, for their administrator. One server gives
// access to all nodes. It forwards connections to port 22 of a node's address, like a bastion host,
// or connects to the node with the login's user name.
package sshd

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/csisim/csisim/internal/world/machine"
)

// Node provides a node to its administrator.
type Node interface {
	// Run runs the administrator's shell until it ends or ctx is done.
	Run(ctx context.Context, args []string, s machine.Stdio, terminal bool) (code int, err error)
	KubeletRuns() bool
	StartKubelet() error
	StopKubelet() error
}

// Names are the names that clients use for a node.
type Names struct{ Name, Address string }

// Server is an SSH server for clients with its key.
type Server struct {
	nodes  map[Names]Node
	config *ssh.ServerConfig
	key    []byte // in OpenSSH's form
}

// New returns a server with its own keys.
func New(nodes map[Names]Node) (*Server, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "csisim")
	if err != nil {
		return nil, err
	}
	good, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	_, own, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	host, err := ssh.NewSignerFromKey(own)
	if err != nil {
		return nil, err
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if subtle.ConstantTimeCompare(key.Marshal(), good.Marshal()) == 1 {
			return nil, nil
		}
		return nil, errors.New("the key is not this cluster's: csisim get ssh-key prints it")
	}}
	config.AddHostKey(host)
	return &Server{nodes: nodes, config: config, key: pem.EncodeToMemory(block)}, nil
}

// Key returns the private key of clients.
func (s *Server) Key() []byte { return s.key }

// Serve accepts clients until ctx is done, and waits for the end of their commands.
func (s *Server) Serve(ctx context.Context, at net.Listener) {
	var clients sync.WaitGroup
	defer clients.Wait()
	defer context.AfterFunc(ctx, func() { _ = at.Close() })()
	for {
		conn, err := at.Accept()
		if err != nil {
			return // closed
		}
		clients.Go(func() { s.welcome(ctx, conn, nil) })
	}
}

// welcome serves one connection. The connection is to a node unless node is nil.
func (s *Server) welcome(ctx context.Context, conn net.Conn, node Node) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	client, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // the library has answered
	}
	if node == nil {
		node = s.find(func(n Names) bool { return n.Name == client.User() })
	}
	go ssh.DiscardRequests(requests)
	var served sync.WaitGroup
	defer served.Wait()
	defer cancel() // the commands of the client end with its connection
	for channel := range channels {
		switch {
		case channel.ChannelType() == "direct-tcpip":
			served.Go(func() { s.connect(ctx, channel) })
		case channel.ChannelType() != "session":
			_ = channel.Reject(ssh.UnknownChannelType, "a node serves sessions, and connections with nodes")
		case node == nil:
			_ = channel.Reject(ssh.Prohibited, fmt.Sprintf("there is no node %q: log in as the node, or go through this server to port %d of its address", client.User(), port))
		default:
			served.Go(func() { serveSession(ctx, channel, node) })
		}
	}
}

// find returns the node for which meant returns true, nil if there is none.
func (s *Server) find(meant func(Names) bool) Node {
	for names, node := range s.nodes {
		if meant(names) {
			return node
		}
	}
	return nil
}

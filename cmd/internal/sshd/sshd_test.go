package sshd_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/csisim/csisim/cmd/internal/sshd"
	"github.com/csisim/csisim/internal/world/machine"
)

// node echoes the commands that it receives, with their input.
type node struct {
	name    string
	lock    sync.Mutex
	stopped bool
}

func (n *node) Run(ctx context.Context, words []string, s machine.Stdio, terminal bool) (int, error) {
	switch strings.Join(words, " ") {
	case "-c wait":
		<-ctx.Done()
		return 0, ctx.Err()
	case "-c lost":
		return 0, fmt.Errorf("node %s is in memory", n.name)
	}
	if terminal {
		size := <-s.Resize
		fmt.Fprintf(s.Out, "%dx%d ", size.Width, size.Height)
	}
	input, err := io.ReadAll(s.In)
	fmt.Fprintf(s.Out, "%s: %q %s", n.name, words, input)
	fmt.Fprint(s.Err, "careful")
	return 7, err
}

func (n *node) set(stopped bool) error {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.stopped = stopped
	return nil
}

func (n *node) StartKubelet() error { return n.set(false) }
func (n *node) StopKubelet() error  { return n.set(true) }

func (n *node) KubeletRuns() bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	return !n.stopped
}

// site is a server with two nodes.
type site struct {
	t       *testing.T
	address string
	key     ssh.Signer
}

func start(t *testing.T) *site {
	server, err := sshd.New(map[sshd.Names]sshd.Node{{Name: "node-a", Address: "127.0.0.1"}: &node{name: "node-a"}, {Name: "node-b", Address: "127.0.0.2"}: &node{name: "node-b"}})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(ctx, listener)
	}()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	key, err := ssh.ParsePrivateKey(server.Key())
	require.NoError(t, err)
	return &site{t, listener.Addr().String(), key}
}

func config(user string, key ssh.Signer) *ssh.ClientConfig {
	return &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()}
}

func (s *site) login(user string) *ssh.Client {
	s.t.Helper()
	client, err := ssh.Dial("tcp", s.address, config(user, s.key))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// through logs in at an address through the server.
func (s *site) through(address string) *ssh.Client {
	s.t.Helper()
	tunnel, err := s.login("whoever").Dial("tcp", address)
	require.NoError(s.t, err)
	conn, channels, requests, err := ssh.NewClientConn(tunnel, address, config("whoever", s.key))
	require.NoError(s.t, err)
	client := ssh.NewClient(conn, channels, requests)
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

func run(t *testing.T, client *ssh.Client, command, input string) (out, errs string, code int) {
	t.Helper()
	session, err := client.NewSession()
	require.NoError(t, err)
	defer session.Close()
	var o, e bytes.Buffer
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(input), &o, &e
	if err := session.Run(command); err != nil {
		var exit *ssh.ExitError
		require.ErrorAs(t, err, &exit)
		code = exit.ExitStatus()
	}
	return o.String(), e.String(), code
}

func TestASessionRunsACommandOfTheNode(t *testing.T) {
	s := start(t)
	for way, client := range map[string]*ssh.Client{"node-a": s.login("node-a"), "node-b": s.through("127.0.0.2:22")} {
		out, errs, code := run(t, client, "mount | grep x", "text")
		assert.Equal(t, way+`: ["-c" "mount | grep x"] text`, out)
		assert.Equal(t, "careful", errs)
		assert.Equal(t, 7, code)
	}
	_, errs, code := run(t, s.login("node-a"), "lost", "")
	assert.Equal(t, "node node-a is in memory\n", errs)
	assert.Equal(t, 126, code)
}

func TestATerminalHasASize(t *testing.T) {
	session, err := start(t).login("node-a").NewSession()
	require.NoError(t, err)
	defer session.Close()
	var out bytes.Buffer
	session.Stdout, session.Stdin = &out, strings.NewReader("")
	require.NoError(t, session.RequestPty("xterm", 40, 120, nil))
	require.NoError(t, session.Shell())
	require.Error(t, session.Wait(), "it exits with 7")
	assert.Equal(t, `120x40 node-a: [] `, out.String())
}

func TestTheCommandsOfAClientEndWithIt(t *testing.T) {
	client := start(t).login("node-a")
	session, err := client.NewSession()
	require.NoError(t, err)
	require.NoError(t, session.Start("wait"))
	require.NoError(t, client.Close()) // at its end, the server waits for all commands
}

func TestRequestsWithoutTheTokenAreUnauthorized(t *testing.T) {
	s := start(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	other, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	_, err = ssh.Dial("tcp", s.address, config("node-a", other))
	require.ErrorContains(t, err, "unable to authenticate")

	_, err = s.login("node-c").NewSession()
	require.ErrorContains(t, err, `there is no node \"node-c\": log in as the node, or go through this server to port 22 of its address`)
	for _, address := range []string{"127.0.0.3:22", "127.0.0.1:80"} {
		_, err = s.login("node-a").Dial("tcp", address)
		require.ErrorContains(t, err, address+" is not port 22 of a node")
	}
}

func TestSystemctlStopsAndStartsTheKubelet(t *testing.T) {
	client := start(t).login("node-a")
	for _, step := range []struct {
		command, out, errs string
		code               int
	}{
		{"systemctl is-active kubelet", "active\n", "", 0},
		{"sudo systemctl stop kubelet", "", "", 0},
		{"systemctl show kubelet --property ActiveState --value", "inactive\n", "", 0},
		{"systemctl status kubelet.service", "kubelet.service - kubelet\n     Active: inactive (dead)\n", "", 3},
		{"systemctl is-active --quiet kubelet", "", "", 3},
		{"systemctl start kubelet", "", "", 0},
		{"systemctl show -p ActiveState,SubState kubelet", "ActiveState=active\nSubState=running\n", "", 0},
		{"systemctl restart kubelet", "", "", 0},
		{"systemctl is-active kubelet", "active\n", "", 0},
		{"systemctl stop containerd", "", "Unit containerd.service not found: a node of csisim has kubelet.service\n", 5},
		{"systemctl mask kubelet", "", "Unknown command verb \"mask\": a node of csisim has start, stop, restart, kill, is-active, status, show\n", 1},
		{"systemctl stop kubelet; true", `node-a: ["-c" "systemctl stop kubelet; true"] `, "careful", 7},
	} {
		out, errs, code := run(t, client, step.command, "")
		assert.Equal(t, step.out, out, step.command)
		assert.Equal(t, step.errs, errs, step.command)
		assert.Equal(t, step.code, code, step.command)
	}
}

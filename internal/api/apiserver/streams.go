package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Container is a running instance of a container.
type Container interface {
	// Exec runs another command in it until the command ends or ctx is done.
	Exec(ctx context.Context, words []string, s machine.Stdio, terminal bool) (code int, err error)
	// Attach connects streams with the container's until it ends or ctx is done.
	Attach(ctx context.Context, s machine.Stdio) error
}

// Nodes provide data that the store lacks: logs, containers and ports of pods. The store does not
// change during a call.
type Nodes interface {
	// Log returns the log of a container of a pod, or of its previous instance.
	Log(pod *corev1.Pod, container string, previous bool) (Log, error)
	// Container returns the running instance of a container.
	Container(pod *corev1.Pod, container string) (Container, error)
	// Page returns the answer of the server in a node's kubelet; nil if it has no such page. The
	// error gives the reason why the port cannot be reached. An error without text comes from the
	// kubelet.
	Page(node, port, path string) (*Page, error)
	// Port returns a dialer for a port of a pod's loopback.
	Port(pod *corev1.Pod) (Dial, error)
	// Dial connects to an address of the cluster, IP and port, from the server.
	Dial(ctx context.Context, to string) (net.Conn, error)
}

// Page is the answer of a server.
type Page struct {
	Type string
	Body []byte
}

// Dial connects to a port of a pod.
type Dial func(ctx context.Context, port int32) (net.Conn, error)

// Streams answer requests that become connections with several streams. They write the whole
// answer, including errors.
type Streams interface {
	// Run connects the client with the streams of run.
	Run(w http.ResponseWriter, r *http.Request, o StreamOptions, run Run)
	// Forward connects the client with ports.
	Forward(w http.ResponseWriter, r *http.Request, ports []int32, dial Dial)
}

// Run is the work of a connection. It returns an ExitError if a command fails.
type Run func(ctx context.Context, s machine.Stdio) error

// ExitError is the end of a command with a non-zero exit code.
type ExitError struct {
	Command []string
	Code    int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("error executing command %v, exit code %d", e.Command, e.Code)
}

func (e *ExitError) String() string { return e.Error() }

// Exited reports that the command has run.
func (e *ExitError) Exited() bool { return true }

// ExitStatus returns the exit code.
func (e *ExitError) ExitStatus() int { return e.Code }

// StreamOptions are the streams of a client.
type StreamOptions struct {
	Stdin, Stdout, Stderr bool
	Terminal              bool // standard output contains both streams, and a terminal has sizes
}

// ServeStreams enables exec, attach and portforward, which the server refuses by default. It must
// be called before the first request.
func (s *Server) ServeStreams(streams Streams) { s.streams = streams }

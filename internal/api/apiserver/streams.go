package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Container is the instance of a container that runs.
type Container interface {
	// Exec runs one more command in it until that ends or ctx is done.
	Exec(ctx context.Context, words []string, s machine.Stdio, terminal bool) (code int, err error)
	// Attach connects streams with its own until it ends or ctx is done.
	Attach(ctx context.Context, s machine.Stdio) error
}

// Nodes are asked for what only they know of pods. They run while the store does not change.
type Nodes interface {
	// Log finds what a container of a pod writes, or what its previous instance wrote.
	Log(pod *corev1.Pod, container string, previous bool) (Log, error)
	// Container finds the instance of a container that runs.
	Container(pod *corev1.Pod, container string) (Container, error)
	// Page is what the kubelet of a node answers to a request of its own server, nil if it has no such
	// page. The error says that it cannot be reached at that port; an empty one is its own.
	Page(node, port, path string) (*Page, error)
	// Port finds how a port of a pod's loopback is reached.
	Port(pod *corev1.Pod) (Dial, error)
	// Dial connects with an address of the cluster, IP and port, as the server does.
	Dial(ctx context.Context, to string) (net.Conn, error)
}

// Page is what a server answers.
type Page struct {
	Type string
	Body []byte
}

// Dial reaches a port of a pod.
type Dial func(ctx context.Context, port int32) (net.Conn, error)

// Streams answer requests that become connections of several streams. They write all of the
// answer, errors included.
type Streams interface {
	// Run connects the client with what run reads and writes.
	Run(w http.ResponseWriter, r *http.Request, o StreamOptions, run Run)
	// Forward connects the client with ports.
	Forward(w http.ResponseWriter, r *http.Request, ports []int32, dial Dial)
}

// Run is what a connection is for. It returns an ExitError if a command fails.
type Run func(ctx context.Context, s machine.Stdio) error

// ExitError is the end of a command with an exit code that is not 0.
type ExitError struct {
	Command []string
	Code    int
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("error executing command %v, exit code %d", e.Command, e.Code)
}

func (e *ExitError) String() string { return e.Error() }

// Exited says that the command has run.
func (e *ExitError) Exited() bool { return true }

// ExitStatus is the exit code.
func (e *ExitError) ExitStatus() int { return e.Code }

// StreamOptions are the streams that a client has.
type StreamOptions struct {
	Stdin, Stdout, Stderr bool
	Terminal              bool // standard output has all, and there are sizes
}

// ServeStreams makes the server answer exec, attach and portforward, which it does not by
// itself. It is called before the first request.
func (s *Server) ServeStreams(streams Streams) { s.streams = streams }

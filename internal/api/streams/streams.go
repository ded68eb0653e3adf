// Package streams serves connections with several streams, as kubectl exec, attach and port-forward
// use them: over SPDY and over WebSockets, in all versions of Kubernetes' protocols. The protocols
// come from Kubernetes' own packages.
package streams

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"k8s.io/utils/exec"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/machine"
)

// Server serves the streams of an API server.
type Server struct{}

var (
	_ apiserver.Streams = Server{}
	_ exec.ExitError    = &apiserver.ExitError{} // for Kubernetes' packages
)

// idle bounds the silence on a connection, as with a kubelet.
const idle = 4 * time.Hour

// Run connects the client with the streams of run, and ends with its exit code.
func (Server) Run(w http.ResponseWriter, r *http.Request, o apiserver.StreamOptions, run apiserver.Run) {
	if wsstream.IsWebSocketRequestWithStreamCloseProtocol(r) {
		runWebSocket(w, r, o, run)
		return
	}
	streams := &remotecommand.Options{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, TTY: o.Terminal}
	remotecommand.ServeExec(w, r, executor(run), "", "", "", nil, streams, idle, remotecommand.DefaultStreamCreationTimeout, remotecommand.SupportedStreamingProtocols)
}

// executor runs the work of a connection.
type executor apiserver.Run

// ExecInContainer is called when the streams exist. The names are unused.
func (run executor) ExecInContainer(ctx context.Context, _, _, _ string, _ []string, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return run(ctx, stdio(ctx, in, out, err, tty, resize))
}

// stdio omits missing streams: an interface with a nil value in it is not nil.
func stdio(ctx context.Context, in io.Reader, out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) machine.Stdio {
	s := machine.Stdio{In: in}
	if out != nil {
		s.Out = out
	}
	if err != nil {
		s.Err = err
	}
	if tty && resize != nil {
		s.Resize = sizes(ctx, resize)
	}
	return s
}

// sizes passes on the sizes of a terminal.
func sizes(ctx context.Context, from <-chan remotecommand.TerminalSize) <-chan machine.TerminalSize {
	to := make(chan machine.TerminalSize)
	go func() {
		defer close(to)
		for size := range from {
			select {
			case to <- machine.TerminalSize{Width: size.Width, Height: size.Height}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return to
}

// Forward connects the client to ports. It uses SPDY, possibly inside a WebSocket, or the channels
// of a WebSocket for ports that are named at the start.
func (Server) Forward(w http.ResponseWriter, r *http.Request, ports []int32, dial apiserver.Dial) {
	if wsstream.IsWebSocketRequestWithTunnelingProtocol(r) {
		w, r = tunnel(w, r)
	} else if wsstream.IsWebSocketRequest(r) && len(ports) == 0 {
		http.Error(w, `query parameter "port" is required`, http.StatusBadRequest)
		return
	}
	options := &portforward.V4Options{Ports: ports}
	portforward.ServePortForward(w, r, forwarder{r.Context(), dial}, "", "", options, idle, remotecommand.DefaultStreamCreationTimeout, portforward.SupportedProtocols)
}

// forwarder copies between a stream and a port until the request ends.
type forwarder struct {
	ctx  context.Context // of the request: PortForward's own context never ends
	dial apiserver.Dial
}

// PortForward is called for each connection to a port.
func (f forwarder) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	conn, err := f.dial(f.ctx, port)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(f.ctx, func() { _ = conn.Close() })()
	go func() {
		_, _ = io.Copy(conn, stream) // until the client is done
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	return err
}

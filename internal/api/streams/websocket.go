package streams

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	protocol "k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/machine"
)

// statusPatience bounds the time that a client may take to receive the result of a command.
const statusPatience = 10 * time.Second

// runWebSocket is Run over version 5 of the protocol, which permits a client to close its streams
// one by one. Kubernetes' API server translates it for its kubelets.
func runWebSocket(w http.ResponseWriter, r *http.Request, o apiserver.StreamOptions, run apiserver.Run) {
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{protocol.StreamProtocolV5Name: {Binary: true, Channels: channels(o)}})
	conn.SetIdleTimeout(idle)
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return // the client has been answered
	}
	defer conn.Close()
	first := protocol.StreamErr // the lowest that the client reads
	if o.Stderr {
		first = protocol.StreamStdErr
	}
	if o.Stdout {
		first = protocol.StreamStdOut
	}
	if _, err := streams[first].Write(nil); err != nil { // it begins
		return
	}
	var s machine.Stdio
	if o.Stdin {
		s.In = streams[protocol.StreamStdIn]
	}
	if o.Stdout {
		s.Out = streams[protocol.StreamStdOut]
	}
	if o.Stderr {
		s.Err = streams[protocol.StreamStdErr]
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if o.Terminal {
		sizes := make(chan machine.TerminalSize)
		go readSizes(ctx, streams[protocol.StreamResize], sizes)
		s.Resize = sizes
	}
	err = run(ctx, s)
	if text, err := json.Marshal(statusOf(err)); err == nil {
		conn.SetWriteDeadline(statusPatience)
		_, _ = streams[protocol.StreamErr].Write(text) // the client may have closed the connection
	}
}

// channels returns the streams and their directions.
func channels(o apiserver.StreamOptions) []wsstream.ChannelType {
	all := make([]wsstream.ChannelType, 5)
	all[protocol.StreamErr], all[protocol.StreamResize] = wsstream.WriteChannel, wsstream.IgnoreChannel
	if o.Terminal { // a frame for a stream without a reader blocks the connection
		all[protocol.StreamResize] = wsstream.ReadChannel
	}
	for stream, has := range map[int]bool{protocol.StreamStdOut: o.Stdout, protocol.StreamStdErr: o.Stderr} {
		all[stream] = wsstream.IgnoreChannel
		if has {
			all[stream] = wsstream.WriteChannel
		}
	}
	all[protocol.StreamStdIn] = wsstream.IgnoreChannel
	if o.Stdin {
		all[protocol.StreamStdIn] = wsstream.ReadChannel
	}
	return all
}

// readSizes reads the sizes of the client's terminal. After an unreadable message it discards the
// rest.
func readSizes(ctx context.Context, from io.Reader, to chan<- machine.TerminalSize) {
	defer func() {
		close(to)
		_, _ = io.Copy(io.Discard, from) // ends with the connection
	}()
	for sizes := json.NewDecoder(from); ; {
		var size machine.TerminalSize
		if sizes.Decode(&size) != nil {
			return
		}
		select {
		case to <- size:
		case <-ctx.Done():
			return
		}
	}
}

// statusOf returns the result of a command, in the form that clients read.
func statusOf(err error) metav1.Status {
	var ended *apiserver.ExitError
	switch {
	case err == nil:
		return metav1.Status{Status: metav1.StatusSuccess}
	case errors.As(err, &ended):
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: protocol.NonZeroExitCodeReason,
			Message: fmt.Sprintf("command terminated with non-zero exit code: %v", err),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: protocol.ExitCodeCauseType, Message: strconv.Itoa(ended.Code)}}},
		}
	}
	return apierrors.NewInternalError(fmt.Errorf("error executing command in container: %w", err)).Status()
}

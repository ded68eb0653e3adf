package sshd

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/csisim/csisim/internal/world/machine"
)

// The requests of clients in a session. RFC 4254, 6
type (
	terminalRequest struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	sizeRequest    struct{ Columns, Rows, Width, Height uint32 }
	commandRequest struct{ Command string }
	exitStatus     struct{ Code uint32 }
)

// session is a session of a client with a node.
type session struct {
	ssh.Channel
	node     Node
	terminal bool
	sizes    chan machine.TerminalSize
}

// serveSession runs the command, or the shell, of a session.
func serveSession(ctx context.Context, requested ssh.NewChannel, node Node) {
	channel, requests, err := requested.Accept()
	if err != nil {
		return // the client has disconnected
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &session{Channel: channel, node: node, sizes: make(chan machine.TerminalSize, 1)}
	defer channel.Close()
	ended := make(chan struct{})
	running := false
	defer func() {
		cancel()
		if running {
			<-ended
		}
	}()
	for {
		select {
		case <-ended:
			return
		case request, open := <-requests:
			if !open {
				return
			}
			run := s.handle(request)
			if run == nil || running {
				continue
			}
			running = true
			go func() {
				defer close(ended)
				s.end(run(ctx))
			}()
		}
	}
}

// handle answers a request. It returns the function that performs the request; nil for none.
func (s *session) handle(request *ssh.Request) (run func(context.Context) (int, error)) {
	var err error
	switch request.Type {
	case "exec":
		var requested commandRequest
		if err = ssh.Unmarshal(request.Payload, &requested); err == nil {
			run = func(ctx context.Context) (int, error) { return s.run(ctx, requested.Command) }
		}
	case "shell":
		run = func(ctx context.Context) (int, error) { return s.start(ctx) }
	case "pty-req":
		var requested terminalRequest
		if err = ssh.Unmarshal(request.Payload, &requested); err == nil {
			s.terminal = true
			s.resize(requested.Columns, requested.Rows)
		}
	case "window-change":
		var requested sizeRequest
		if err = ssh.Unmarshal(request.Payload, &requested); err == nil {
			s.resize(requested.Columns, requested.Rows)
		}
	default: // a server may refuse environments and signals
		err = errors.ErrUnsupported
	}
	if request.WantReply {
		_ = request.Reply(err == nil, nil)
	}
	return run
}

// resize keeps only the newest size.
func (s *session) resize(columns, rows uint32) {
	select {
	case <-s.sizes:
	default:
	}
	s.sizes <- machine.TerminalSize{Width: uint16(columns), Height: uint16(rows)}
}

// run runs a command of the client. systemctl acts on the kubelet; the shell executes other
// commands.
func (s *session) run(ctx context.Context, command string) (int, error) {
	if order, ok := parseSystemctl(command); ok {
		return order.run(s.node, s, s.Stderr()), nil
	}
	return s.start(ctx, "-c", command)
}

func (s *session) start(ctx context.Context, args ...string) (int, error) {
	return s.node.Run(ctx, args, machine.Stdio{In: s, Out: s, Err: s.Stderr(), Resize: s.sizes}, s.terminal)
}

// notRun is the exit code of shells for a command that cannot be run.
const notRun = 126

// end sends the exit status of the command.
func (s *session) end(code int, err error) {
	if err != nil {
		fmt.Fprintln(s.Stderr(), err)
		code = notRun
	}
	_ = s.CloseWrite()
	_, _ = s.SendRequest("exit-status", false, ssh.Marshal(exitStatus{uint32(code)}))
}

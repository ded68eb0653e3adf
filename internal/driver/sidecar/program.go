package sidecar

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// Program is a sidecar across its restarts. It exits when it cannot connect to its driver, or loses
// the connection, and is restarted as in a pod. C-LIB-1
type Program struct {
	world   *component.World
	begin   func(*Life) *component.Component
	flags   Flags
	current *Life // nil while it is down
	exits   int
	ended   bool
	pace    *component.Pace // over its restarts
}

// Life is one run of a sidecar, from a start to its end.
type Life struct {
	program   *Program
	component *component.Component
	began     time.Duration
	connected bool
	election  *Election // the election that it has won; nil for none
}

// Run starts a sidecar. begin starts its processes.
func Run(w *component.World, flags Flags, begin func(*Life) *component.Component) *Program {
	s := &Program{world: w, begin: begin, flags: flags}
	s.start()
	return s
}

func (s *Program) start() {
	s.current = &Life{program: s, began: s.world.Kernel.Elapsed()}
	s.current.component = s.begin(s.current)
	s.flags.limit(s.current.component)
	s.current.component.SetPace(s.pace)
}

// SetPace sets the pace of the running sidecar, and of its later starts.
func (s *Program) SetPace(p *component.Pace) {
	s.pace = p
	if s.current != nil {
		s.current.component.SetPace(p)
	}
}

// Crash ends the sidecar immediately, for good.
func (s *Program) Crash() {
	s.ended = true
	if s.current != nil {
		s.current.end()
	}
}

// end ends this life immediately.
func (l *Life) end() {
	l.component.Crash()
	l.abdicate()
}

// Running reports whether the sidecar runs or will be started again.
func (s *Program) Running() bool {
	return !s.ended && (s.current == nil || s.current.component.Group.Running() > 0)
}

// Disconnected ends the connection to the driver. The sidecar notices this even without a call.
// Calls in progress get their errors first. C-LIB-1
func (s *Program) Disconnected() {
	life := s.current
	if s.ended || life == nil || !life.connected {
		return
	}
	s.world.Kernel.Spawn(nil, "connection of "+life.component.Name, func(p *kernel.Process) {
		p.Sleep(time.Millisecond)
		life.Lost()
	})
}

// Watch returns a connection that ends the sidecar after an error that means that the driver was
// lost. The caller receives the error first.
func (l *Life) Watch(conn grpc.ClientConnInterface) grpc.ClientConnInterface {
	return watched{conn, l.program}
}

type watched struct {
	grpc.ClientConnInterface
	program *Program
}

// Invoke makes the call.
func (w watched) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	err := w.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	if IsConnectionLoss(err) {
		w.program.Disconnected()
	}
	return err
}

// Connect waits for the driver and requests its name and capabilities. On an error the sidecar
// exits, and Connect does not return.
func (l *Life) Connect(p *kernel.Process, wire *wire.Wire, site wire.Site, patience Patience) Driver {
	c := &connector{p, wire, site, patience}
	d, err := c.connect()
	if err != nil {
		l.Failed(p)
	}
	l.connected = true
	return d
}

// Failed ends the sidecar during its start; it does not return.
func (l *Life) Failed(p *kernel.Process) {
	l.connected = false
	l.exit()
	p.Wait("the sidecar's end", func() bool { return false })
}

// Lost ends the sidecar after the loss of its driver.
func (l *Life) Lost() { l.exit() }

// ExitIfLost ends the sidecar if the error of a call means that the driver was lost. C-LIB-1
func (l *Life) ExitIfLost(err error) {
	if IsConnectionLoss(err) {
		l.Lost()
	}
}

// exit ends this run, unless it has already ended. The next run begins after the kubelet's restart
// delay.
func (l *Life) exit() {
	s := l.program
	s.world.Kernel.Spawn(nil, "supervisor of "+l.component.Name, func(p *kernel.Process) {
		if l != s.current || s.ended {
			return
		}
		l.end()
		if s.flags.Restart == RestartNever {
			s.ended = true
			s.world.Trace.Add(trace.Transition{Part: trace.Controller, Name: l.component.Name, Verb: trace.ExitedForGood}.Entry(l.component.Node))
			return
		}
		s.current = nil
		if p.Elapsed()-l.began >= Stable {
			s.exits = 0
		}
		s.exits++
		l.await(p, CrashLoop(s.exits))
		if !s.ended {
			s.start()
		}
	})
}

// await counts as housekeeping for a program that never reached its driver, because its restarts
// may never end.
func (l *Life) await(p *kernel.Process, delay time.Duration) {
	if l.connected {
		p.Sleep(delay)
	} else {
		p.Idle(delay)
	}
}

// CrashLoop returns the kubelet's delay before the n-th restart of a container: first 0, then 10 s,
// doubling up to 5 minutes.
func CrashLoop(n int) time.Duration {
	const first, longest = 10 * time.Second, 5 * time.Minute
	if n <= 1 {
		return 0
	}
	delay := first
	for ; n > 2 && delay < longest; n-- {
		delay *= 2
	}
	return min(delay, longest)
}

// Stable is the time for which a program must have run before its restarts are counted from 1
// again.
const Stable = 10 * time.Minute

// IsConnectionLoss distinguishes an error of the connection from an answer Unavailable.
func IsConnectionLoss(err error) bool {
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) {
		return false
	}
	s := answer.GRPCStatus()
	return s.Code() == codes.Unavailable &&
		(strings.HasPrefix(s.Message(), "connection error") || strings.HasPrefix(s.Message(), "error reading from server"))
}

package sidecar

import (
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
)

// Program is a sidecar over its restarts: it exits when it loses its driver, and
// is started again, as in a pod. C-LIB-1
type Program struct {
	world   *component.World
	begin   func(lost func()) *component.Component
	once    bool
	current *component.Component
}

// Run starts a sidecar. begin starts its processes; it is given what to call when
// the driver is lost. With once nothing restarts the program.
func Run(w *component.World, once bool, begin func(lost func()) *component.Component) *Program {
	s := &Program{world: w, begin: begin, once: once}
	s.restart()
	return s
}

// Crash ends the sidecar where it stands.
func (s *Program) Crash() { s.current.Crash() }

// Running reports whether the sidecar has not ended.
func (s *Program) Running() bool { return s.current.Group.Running() > 0 }

func (s *Program) restart() {
	var started *component.Component
	started = s.begin(func() { s.exit(started) })
	s.current = started
}

// exit ends a run that has lost its driver, unless it has ended already.
func (s *Program) exit(c *component.Component) {
	s.world.Kernel.Spawn(nil, "supervisor of "+c.Name, func(*kernel.Process) {
		if c != s.current || !s.Running() {
			return
		}
		c.Crash()
		if !s.once {
			s.restart()
		}
	})
}

// IsConnectionLoss tells an error of the connection from an answer Unavailable.
func IsConnectionLoss(err error) bool {
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) {
		return false
	}
	s := answer.GRPCStatus()
	return s.Code() == codes.Unavailable &&
		(strings.HasPrefix(s.Message(), "connection error") || strings.HasPrefix(s.Message(), "error reading from server"))
}

// Package relay is between the controller manager of CSI-Addons and the sidecars: the
// addresses at which sidecars listen, and the calls that the manager makes to them.
package relay

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Network has the sidecars that listen, by their addresses. The zero value has none.
type Network struct{ listeners map[string]*listener }

type listener struct {
	component *component.Component
	service   Service
	closed    bool
	callers   []*kernel.Process // who wait for an answer
}

// Listen has a sidecar serve at an address until the process ends.
func (n *Network) Listen(p *kernel.Process, c *component.Component, address string, s Service) {
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	l := &listener{component: c, service: s}
	n.listeners[address] = l
	p.OnEnd(func() {
		l.closed = true
		if n.listeners[address] == l {
			delete(n.listeners, address)
		}
		for _, caller := range l.callers {
			caller.Wake()
		}
	})
}

// Call makes a call to the sidecar at an address, which answers it in a process of its own.
// Errors of the network are those that gRPC has.
func (n *Network) Call(p *kernel.Process, address, what string, timeout time.Duration, do func(Service, Call) error) error {
	p.Yield(what)
	l := n.listeners[address]
	if l == nil {
		return status.Errorf(codes.Unavailable, "connection error: desc = \"transport: Error while dialing: dial tcp %s: connect: connection refused\"", address)
	}
	deadline := p.Elapsed() + timeout
	answered, lost := false, false
	var outcome error
	l.component.Go("answer "+what, func(q *kernel.Process) {
		err := do(l.service, Call{q, deadline})
		if !lost {
			answered, outcome = true, err
			p.Wake()
		}
	})
	l.callers = append(l.callers, p)
	p.WaitUntil("the sidecar's answer to "+what, deadline, func() bool { return answered || l.closed })
	l.forget(p)
	lost = true
	switch {
	case answered:
		return outcome
	case l.closed:
		return status.Error(codes.Unavailable, "error reading from server: EOF")
	}
	return status.Error(codes.DeadlineExceeded, "context deadline exceeded")
}

func (l *listener) forget(p *kernel.Process) {
	for i, caller := range l.callers {
		if caller == p {
			l.callers = append(l.callers[:i], l.callers[i+1:]...)
			return
		}
	}
}

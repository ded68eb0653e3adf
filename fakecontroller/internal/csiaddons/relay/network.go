// Package relay connects the controller manager of CSI-Addons with the sidecars. It has the
// addresses at which sidecars listen, and forwards the manager's calls to them.
package relay

import (
	"net/netip"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Network holds the listening sidecars, by their addresses. The zero value has no sidecars, and
// nothing outside the simulation.
type Network struct {
	// Outside connects to programs outside the simulation; nil if there are none.
	Outside Outside
	// ManagerOutside means that the controller manager is outside the simulation.
	ManagerOutside bool

	listeners   map[string]*listener
	connections map[string]Connection // to programs outside, by their addresses
}

type listener struct {
	component *component.Component
	service   Service
	secured   bool
	closed    bool
	callers   []*kernel.Process // that wait for an answer
}

// Listen makes a sidecar serve at an address until the process ends. For a controller manager
// outside, it also serves at the port. Secured means that callers use TLS, with a token. The error
// comes from the machine's network. A-SRV-1
func (n *Network) Listen(p *kernel.Process, c *component.Component, at netip.AddrPort, secured bool, s Service) error {
	l := &listener{component: c, service: s, secured: secured}
	if n.ManagerOutside {
		stop, err := n.Outside.Serve(int(at.Port()), secured, served{l, n.Outside}.register)
		if err != nil {
			return err
		}
		p.OnEnd(stop)
	}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	address := at.String()
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
	return nil
}

// Network errors in their gRPC form.
const (
	refused       = "connection error: desc = \"transport: Error while dialing: dial tcp %s: connect: connection refused\""
	serverIsPlain = "connection error: desc = \"transport: authentication handshake failed: tls: first record does not look like a TLS handshake\""
	serverHasTLS  = "connection error: desc = \"error reading server preface: EOF\""
)

// Call calls the sidecar at an address, which answers in a separate process.
func (n *Network) Call(p *kernel.Process, address, what string, secured bool, timeout time.Duration, do func(Asked, Call) error) error {
	p.Yield(what)
	l := n.listeners[address]
	deadline := p.Elapsed() + timeout
	switch {
	case l == nil && n.Outside != nil:
		return n.callOut(p, address, what, secured, deadline, do)
	case l == nil:
		return status.Errorf(codes.Unavailable, refused, address)
	case secured && !l.secured:
		return status.Error(codes.Unavailable, serverIsPlain)
	case l.secured && !secured:
		return status.Error(codes.Unavailable, serverHasTLS)
	}
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

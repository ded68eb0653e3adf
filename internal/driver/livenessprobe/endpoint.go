package livenessprobe

import (
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Endpoint is the address of /healthz of a pod. It refuses connections until the sidecar has the
// driver's name.
type Endpoint struct{ server *run }

var (
	errRefused = errors.New("connect: connection refused")
	errTimeout = errors.New("context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
)

// Get requests /healthz, as the kubelet does. An error is a failure of the probe.
func (e *Endpoint) Get(p *kernel.Process, timeout time.Duration) error {
	if e.server == nil || e.server.Group.Running() == 0 {
		return errRefused
	}
	deadline := p.Elapsed() + timeout
	var failure error
	answered := false
	handler := e.server.Go("healthz", func(q *kernel.Process) {
		failure = e.server.check(q, deadline)
		answered = true
		p.Wake()
	})
	handler.OnEnd(p.Wake)
	p.WaitUntil("the answer of livenessprobe", deadline, func() bool { return handler.Ended() })
	switch {
	case !answered && p.Elapsed() < deadline:
		return errRefused // it died meanwhile
	case !answered:
		return errTimeout
	case failure != nil:
		return fmt.Errorf("HTTP probe failed with statuscode: 500: %w", failure)
	}
	return nil
}

package fakekubelet

import (
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// over reports whether the container must end permanently: its pod ends, or it is a sidecar and no
// other container is left.
func (c *container) over() bool {
	return c.terminating || c.sidecar && !slices.ContainsFunc(c.programs, func(other *container) bool { return !other.init && !other.ended })
}

// awaitTurn makes an ending sidecar wait for the pod's containers and for later sidecars, within
// its grace period. It returns the rest of that time.
// [pkg/kubelet/kuberuntime/kuberuntime_termination_order.go]
func (c *container) awaitTurn(p *kernel.Process, grace time.Duration) time.Duration {
	if !c.sidecar {
		return grace
	}
	began := p.Elapsed()
	p.WaitUntil("the end of the containers that sidecar "+c.spec.Name+" serves", began+grace, func() bool { return !c.running() || !c.serves() })
	waited := (p.Elapsed() - began).Truncate(time.Second)
	return max(grace-waited, leastGrace)
}

// serves reports whether there is a running container that may need the sidecar.
func (c *container) serves() bool {
	after := false
	for _, other := range c.programs {
		if (after || !other.init) && other.running() {
			return true
		}
		after = after || other == c
	}
	return false
}

package component

import (
	"strings"

	"golang.org/x/time/rate"

	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
)

// limits bound the requests of a program's API clients: it has one for the kinds of
// Kubernetes itself and one for snapshots. Nil is no limit.
type limits struct{ own, snapshots *rate.Limiter }

// LimitRequests bounds the requests of each of the component's API clients: burst at
// once, and perSecond on average. Events count, too, but nobody waits for them. Watches
// and what they begin with are not counted. Default: no limit.
func (c *Component) LimitRequests(perSecond float64, burst int) {
	limit := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(perSecond), burst) }
	c.limits = limits{own: limit(), snapshots: limit()}
}

func (l limits) of(group string) *rate.Limiter {
	if strings.HasSuffix(group, "snapshot.storage.k8s.io") {
		return l.snapshots
	}
	return l.own
}

// request is a point at which another process may run first; it waits until the client
// of the kind may send one more request.
func request[T store.Object](p *kernel.Process, c *Component, what string) {
	if c.limits != (limits{}) {
		now := c.Kernel.Now()
		p.Sleep(c.limits.of(store.GroupOf[T]()).ReserveN(now, 1).DelayFrom(now))
	}
	p.Yield(what)
}

// countEventRequest counts a request that nobody waits for.
func (c *Component) countEventRequest() {
	if c.limits.own != nil {
		c.limits.own.ReserveN(c.Kernel.Now(), 1)
	}
}

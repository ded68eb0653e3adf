package component

import (
	"cmp"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Client is one of a program's API clients. Each has a separate limit.
type Client int

// The clients.
const (
	Core      Client = iota // for Kubernetes' own kinds and for events
	Snapshots               // for snapshots and group snapshots
	// For CSIStorageCapacities: csi-provisioner has a separate client for them.
	Capacities
	Elections // for leases: even a busy leader renews its lease
	clients
)

// The defaults of client-go, which the flags of all sidecars and the snapshot-controller have.
// C-LIB-7
const (
	defaultPerSecond = 5
	defaultAtOnce    = 10
)

// limits are the limits of a program's clients. Nil is no limit.
type limits [clients]*limit

// LimitRequests limits the requests of one of the component's clients: the burst, and the average
// rate per second. 0 is client-go's default, 10 and 5; a negative rate is no limit. Events count,
// too, but processes do not wait for them. Watches and their initial lists are not counted, since
// client-go lists through a watch. Default: no limit. kube-controller-manager, the scheduler and
// the kubelet allow 20 to 100 requests a second, and never wait in the recorded traces.
func (c *Component) LimitRequests(of Client, perSecond float64, atOnce int) {
	if c.limits == nil {
		c.limits = &limits{}
	}
	c.limits[of] = nil
	if perSecond >= 0 {
		c.limits[of] = &limit{perSecond: cmp.Or(perSecond, defaultPerSecond), atOnce: cmp.Or(atOnce, defaultAtOnce)}
	}
}

// LimitEachGroup gives each API group a separate client with the limits of client-go, as in
// programs without a common limit. Default: the limits of LimitRequests.
func (c *Component) LimitEachGroup() { c.byGroup = map[string]*limit{} }

// limitOf returns the limit for requests of a kind.
func (c *Component) limitOf(kind schema.GroupResource) *limit {
	switch {
	case c.byGroup != nil:
		l := c.byGroup[kind.Group]
		if l == nil {
			l = &limit{perSecond: defaultPerSecond, atOnce: defaultAtOnce}
			c.byGroup[kind.Group] = l
		}
		return l
	case c.limits != nil:
		return c.limits[clientOf(kind)]
	}
	return nil
}

// request is a point at which another process may run first. It waits for the rate limit of the
// kind's client, and then for the duration in the component's pace.
func request[T store.Object](p *kernel.Process, c *Component, what string) {
	if c.limits == nil && c.byGroup == nil {
		c.pace.walk(p)
		p.Yield(what)
		return
	}
	requestOf(p, c, store.GroupResourceOf[T](), what)
}

func requestOf(p *kernel.Process, c *Component, kind schema.GroupResource, what string) {
	p.Sleep(c.limitOf(kind).request(c.Kernel.Now()))
	c.pace.walk(p)
	p.Yield(what)
}

func clientOf(kind schema.GroupResource) Client {
	switch {
	case strings.HasSuffix(kind.Group, "snapshot.storage.k8s.io"):
		return Snapshots
	case kind.Resource == "csistoragecapacities":
		return Capacities
	case kind.Resource == "leases":
		return Elections
	}
	return Core
}

// countEventRequest counts a request that no process waits for.
func (c *Component) countEventRequest() {
	if c.limits != nil {
		c.limits[Core].event(c.Kernel.Now())
	}
}

// limit is the rate limit of one client. A nil limit means no limit. Like client-go's recorder, it
// sends events sequentially: only one of the waiting events reserves its turn.
type limit struct {
	perSecond float64
	atOnce    int
	bucket    *rate.Limiter // nil before the first request
	waiting   int           // events after the last event with a reserved turn
	sent      time.Time     // when that event is sent
}

// request returns how long a request has to wait.
func (l *limit) request(now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	l.sendEvents(now)
	return l.turn(now)
}

func (l *limit) event(now time.Time) {
	if l == nil {
		return
	}
	l.sendEvents(now)
	if l.waiting == 0 && l.sent.Before(now) {
		l.sent = now
	}
	l.waiting++
	l.sendEvents(now)
}

// sendEvents reserves the turns of events that are first in line by now.
func (l *limit) sendEvents(now time.Time) {
	for ; l.waiting > 0 && !l.sent.After(now); l.waiting-- {
		l.sent = l.sent.Add(l.turn(l.sent))
	}
}

// turn reserves the next turn and returns the wait for it.
func (l *limit) turn(now time.Time) time.Duration {
	if l.bucket == nil {
		l.bucket = rate.NewLimiter(rate.Limit(l.perSecond), l.atOnce)
	}
	return l.bucket.ReserveN(now, 1).DelayFrom(now)
}

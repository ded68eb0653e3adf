package component

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	// relistOdds: the watches are interrupted in one of relistOdds deliveries.
	relistOdds = 32
	// syncPoll is the interval at which a controller checks whether its informers have synced.
	// [client-go tools/cache/shared_informer.go syncedPollPeriod]
	syncPoll  = 100 * time.Millisecond
	syncPolls = 3
	// latePolls: a kubelet lists its pods a second or more after the start of its informers.
	latePolls = 16
)

// Watch is an informer: it delivers the matching objects when it has synced, then every change when
// the component's cache receives it. Each event wakes p, which waits until the component's
// informers have synced. That takes time under an exploring strategy.
func Watch[T store.Object](c *Component, p *kernel.Process, sel ...store.Selector) *store.Watcher[T] {
	c.awaitSync(p)
	return Follow[T](c, p, sel...)
}

// Follow is Watch for a process that continues before the informer has synced.
func Follow[T store.Object](c *Component, p *kernel.Process, sel ...store.Selector) *store.Watcher[T] {
	w := store.Watch[T](c.Cache, sel...)
	w.OnEvent(p.Wake)
	return w
}

// initialSync is the time when the first lists of a component have returned.
type initialSync struct {
	drawn bool
	took  time.Duration
	at    time.Duration // since the beginning
}

// awaitSync waits for the slowest informer of the component. All of them start at once.
func (c *Component) awaitSync(p *kernel.Process) {
	if !c.Kernel.Explores() {
		return
	}
	if !c.sync.drawn {
		took := c.syncTime("informers", syncPolls)
		c.sync = initialSync{true, took, p.Elapsed() + took}
	}
	if left := c.sync.at - p.Elapsed(); left > 0 {
		p.Sleep(left)
	}
}

func (c *Component) syncTime(of string, polls int) time.Duration {
	return syncPoll * time.Duration(c.Kernel.Choose(kernel.Jitter, polls, "sync of "+of+" of "+c.Group.Name))
}

// AwaitList waits for the first list of an informer that starts after the others of its component.
// The list takes as long as the lists of the others.
func (c *Component) AwaitList(p *kernel.Process) {
	c.awaitSync(p)
	p.Sleep(c.sync.took)
}

// SyncLater keeps only the component's informer of type T empty for a time, under an exploring
// strategy. Only AwaitLater waits until it has synced.
func SyncLater[T store.Object](c *Component) {
	if !c.Kernel.Explores() {
		return
	}
	store.Hold[T](c.Cache)
	c.Go("late informer", func(p *kernel.Process) {
		p.WaitUntil("the first list of an informer", p.Elapsed()+c.syncTime("the late informer", latePolls), func() bool { return false })
		c.Cache.Sync()
		for _, waiting := range c.late {
			waiting.Wake()
		}
		c.late = nil
	})
}

// AwaitLater waits until the informer of SyncLater has synced.
func (c *Component) AwaitLater(p *kernel.Process) {
	if c.Cache.Synced() {
		return
	}
	c.late = append(c.late, p)
	p.Wait("the informer to sync", c.Cache.Synced)
}

// deliver advances the cache, some commits at a time, or lists again.
func (c *Component) deliver(p *kernel.Process) {
	if c.Cache.Pending() == 0 {
		p.React("commits that its cache has not seen", c.goesOn)
		return
	}
	if c.Kernel.Choose(kernel.Relist, relistOdds, c.Group.Name) == relistOdds-1 {
		c.recordCacheUpdate(c.Cache.Pending(), trace.CacheUpdate{Relisted: true})
		c.Cache.Relist()
	} else {
		n := c.Cache.Pending()
		n -= c.Kernel.Choose(kernel.Deliver, n, c.Group.Name)
		c.recordCacheUpdate(n, trace.CacheUpdate{})
		c.Cache.Deliver(n)
	}
	p.YieldTo(c.goesOn, "deliver commits to its cache")
}

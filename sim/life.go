package sim

import (
	"context"
	"errors"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// life is the time in which a cluster lives by the real clock.
type life struct {
	end   context.CancelFunc
	ended chan error
	speed float64
}

// GoLive runs the cluster by the real clock from now to the end of the test, at a multiple of its
// speed, for controllers and informers that run beside it. Waits then take real time in proportion.
// A real cluster always lives by the real clock, at its own speed.
func (c *Cluster) GoLive(speed float64) {
	if c.simulation == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	c.life = &life{end: end, ended: make(chan error, 1), speed: speed}
	go func() { c.life.ended <- c.simulation.Live(ctx, speed) }()
}

// stopLiving makes the cluster stand still again.
func (c *Cluster) stopLiving() {
	if c.life == nil {
		return
	}
	c.life.end()
	c.must(<-c.life.ended, "live by the real clock")
	c.life = nil
}

// glance is the interval at which a cluster that runs by the real clock is observed.
const glance = 2 * time.Millisecond

// await advances time until cond holds.
func (c *Cluster) await(what string, limit time.Duration, cond func() bool) error {
	if c.life == nil {
		return c.world.WaitFor(what, limit, cond)
	}
	holds, now := false, time.Duration(0)
	look := func() { holds, now = cond(), c.simulation.World.Kernel.Elapsed() }
	c.simulation.Exclusively(look)
	for end := now + limit; !holds; c.simulation.Exclusively(look) {
		if now >= end {
			return &StuckError{What: what, Reason: kernel.Deadline, After: limit}
		}
		time.Sleep(glance)
	}
	return nil
}

// standsStill ends a test that moves the time of a cluster that moves by itself.
func (c *Cluster) standsStill(method string) {
	c.t.Helper()
	if c.life != nil {
		c.must(errors.New("the cluster lives by the real clock: wait with Until or Within"), method)
	}
}

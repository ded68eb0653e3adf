package sim

import (
	"context"
	"errors"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// life is the period in which a cluster runs by the real clock.
type life struct {
	end   context.CancelFunc
	ended chan error
	speed float64
}

// GoLive runs the cluster by the real clock until the end of the test, at a multiple of its speed.
// Controllers and informers can then run beside it. Waits then take real time in proportion. A real
// cluster always runs by the real clock, at speed 1.
func (c *Cluster) GoLive(speed float64) {
	if c.simulation == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	c.life = &life{end: end, ended: make(chan error, 1), speed: speed}
	go func() { c.life.ended <- c.simulation.Live(ctx, speed) }()
}

// stopLiving stops the clock of the cluster.
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

// standsStill ends a test that advances the time of a cluster with a running clock.
func (c *Cluster) standsStill(method string) {
	c.t.Helper()
	if c.life != nil {
		c.must(errors.New("the cluster lives by the real clock: wait with Until or Within"), method)
	}
}

package realcluster

import "time"

// clock measures the wall time since the run began. An event that is recorded late has the time of
// its occurrence.
type clock struct {
	began time.Time
	then  time.Duration // time of the event that is being recorded; negative means now
}

func newClock() *clock { return &clock{began: time.Now(), then: -1} }

// Elapsed returns the time since the run began.
func (c *clock) Elapsed() time.Duration {
	if c.then >= 0 {
		return c.then
	}
	return time.Since(c.began)
}

// Mark links no events: causes cannot be observed from outside.
func (c *clock) Mark(uint64) uint64 { return 0 }

// at calls record while the clock shows the time at which the event happened.
func (c *clock) at(when time.Time, record func()) {
	c.then = max(when.Sub(c.began), 0)
	defer func() { c.then = -1 }()
	record()
}

// Elapsed returns the time since the run began.
func (c *Cluster) Elapsed() time.Duration { return c.clock.Elapsed() }

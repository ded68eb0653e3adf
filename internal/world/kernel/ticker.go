package kernel

import "time"

// Ticker models a loop that polls with a fixed period. It costs nothing while nothing changes, but
// acts when the real loop would notice a change: at the first multiple of the period after the
// wake-up.
type Ticker struct {
	p      *Process
	period time.Duration
	last   time.Duration // when the previous pass ended
	early  bool          // each poll precedes all other events at the same time
}

// Tick starts a polling loop. Its first pass is due now.
func (p *Process) Tick(period time.Duration) *Ticker {
	return &Ticker{p: p, period: period, last: p.k.now}
}

// TickEarly is Tick for a loop that polls before all other events at the same time: other loops
// take a moment to act, so this loop notices their changes at its next poll.
func (p *Process) TickEarly(period time.Duration) *Ticker {
	t := p.Tick(period)
	t.early = true
	return t
}

// Wait yields until the next poll after a Wake.
func (t *Ticker) Wait(why string) {
	if !t.p.woken {
		t.p.Park(why)
	}
	t.p.woken = false
	t.pass()
}

// Rest is Wait for a loop that needs nothing on its stack. body is its work at a poll, and the
// caller must return after Rest.
func (t *Ticker) Rest(why string, body func(*Process)) {
	t.p.Rest(why, func(p *Process) {
		p.woken = false
		t.pass()
		body(p)
	})
}

// WaitUntil is Wait that also makes a pass at the first poll at or after the given time without a
// Wake, for a retry that becomes due or a deadline.
func (t *Ticker) WaitUntil(why string, at time.Duration) {
	if !t.p.woken {
		t.p.ParkUntil(why, at)
	}
	t.p.woken = false
	t.pass()
}

// Next yields until the next poll.
func (t *Ticker) Next() { t.pass() }

// pass sleeps until the next poll.
func (t *Ticker) pass() {
	now := t.p.k.now
	periods := (now - t.last + t.period - 1) / t.period
	if periods < 1 || t.early && t.last+periods*t.period == now {
		periods++
	}
	t.last += periods * t.period
	t.p.Sleep(t.last - now)
	t.p.woken = false
}

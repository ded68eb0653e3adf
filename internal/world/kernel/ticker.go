package kernel

import "time"

// Ticker models a loop that polls with a fixed period. It costs nothing while
// nothing changes, yet acts at the instant at which the real loop would have
// noticed: the first multiple of the period after the wake-up.
type Ticker struct {
	p      *Process
	period time.Duration
	last   time.Duration // when the previous pass ended
}

// Tick starts a polling loop whose first pass is now.
func (p *Process) Tick(period time.Duration) *Ticker {
	return &Ticker{p: p, period: period, last: p.k.now}
}

// Wait gives way until the next poll at which there is news, that is after a Wake.
func (t *Ticker) Wait(why string) {
	if !t.p.woken {
		t.p.Park(why)
	}
	t.p.woken = false
	t.pass()
}

// Rest is Wait for a loop that has nothing on its stack that it needs: what it does
// at a poll is body, and it returns afterwards.
func (t *Ticker) Rest(why string, body func(*Process)) {
	t.p.Rest(why, func(p *Process) {
		p.woken = false
		t.pass()
		body(p)
	})
}

// WaitUntil is Wait that also makes a pass at the first poll at or after the
// given time, news or not: a retry that becomes due, a deadline that expires.
func (t *Ticker) WaitUntil(why string, at time.Duration) {
	if !t.p.woken {
		t.p.ParkUntil(why, at)
	}
	t.p.woken = false
	t.pass()
}

// Next gives way until the poll that follows the present moment.
func (t *Ticker) Next() { t.pass() }

// pass sleeps until the poll that follows the present moment.
func (t *Ticker) pass() {
	now := t.p.k.now
	periods := (now - t.last + t.period - 1) / t.period
	if periods < 1 {
		periods = 1
	}
	t.last += periods * t.period
	t.p.Sleep(t.last - now)
	t.p.woken = false
}

package kernel

import (
	"slices"
	"time"
)

// Pace determines how virtual time passes during calls.
type Pace int

const (
	// Instant: the clock stops for a call. Calls take no virtual time.
	Instant Pace = iota
	// Measured: a call takes as much virtual time as its server takes real time, and a wait without
	// a call takes no real time. Runs with the same seed differ.
	Measured
	// Real: virtual time follows the real clock from the beginning of the first Run.
	Real
)

// pacer is a clock that virtual time does not overtake.
type pacer interface {
	// reach returns the virtual time to which the clock may move now; forever if there is no limit.
	reach() time.Duration
	// until returns the earliest real time after which virtual time may reach a later time.
	until(at time.Duration) time.Duration
}

// forever is a time that no run reaches.
const forever = time.Duration(1<<63 - 1)

func (k *Kernel) setPace(pace Pace) {
	switch pace {
	case Measured:
		k.clock, k.live = measuredClock{&k.flights}, true
	case Real:
		k.clock, k.live = &realClock{speed: 1}, true
	}
}

// realClock translates between the real and the virtual clock.
type realClock struct {
	begun time.Time // zero until the clock is first read
	from  time.Duration
	speed float64
}

func (c *realClock) reach() time.Duration {
	if c.begun.IsZero() {
		c.begun = time.Now()
	}
	return c.from + time.Duration(float64(time.Since(c.begun))*c.speed)
}

func (c *realClock) until(at time.Duration) time.Duration {
	return time.Duration(float64(at-c.reach()) / c.speed)
}

// measuredClock moves freely, but not beyond the time that a call in progress has taken so far.
type measuredClock struct{ *flights }

func (c measuredClock) reach() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	reach := forever
	for _, f := range c.open {
		switch {
		case f.dropped:
		case f.arrived:
			reach = min(reach, f.departed+f.took)
		default:
			reach = min(reach, f.departed+time.Since(f.began))
		}
	}
	return reach
}

func (c measuredClock) until(at time.Duration) time.Duration { return at - c.reach() }

// delay keeps an answer until the virtual time at which it is due.
func (f *flights) delay(answered *Flight) {
	answered.lands = max(answered.proc.k.now, answered.departed+answered.took+answered.matter.Latency)
	at, _ := slices.BinarySearchFunc(f.landing, answered, func(a, b *Flight) int { return later(a, b) })
	f.landing = slices.Insert(f.landing, at, answered)
}

// later moves the answer that is due last to the front.
func later(a, b *Flight) int {
	if a.lands != b.lands {
		return int(min(1, max(-1, b.lands-a.lands)))
	}
	return b.number - a.number
}

// nextLanding returns the virtual time of the next answer.
func (f *flights) nextLanding() (time.Duration, bool) {
	if len(f.landing) == 0 {
		return 0, false
	}
	return f.landing[len(f.landing)-1].lands, true
}

// landDue moves the clock to a time, passes on the due answers, and fires the due timers.
func (k *Kernel) landDue(at time.Duration) {
	if next, ok := k.timers.peek(); ok && next.at <= at {
		k.advance(Until{})
	} else {
		k.moveTo(at)
	}
	for due, ok := k.flights.nextLanding(); ok && due <= k.now; due, ok = k.flights.nextLanding() {
		last := len(k.flights.landing) - 1
		f := k.flights.landing[last]
		k.flights.landing = k.flights.landing[:last]
		if !f.dropped {
			f.land()
		}
	}
}

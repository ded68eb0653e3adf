package kernel

import "time"

// RunLive schedules processes at the pace of the real clock, speed times as fast, until stop is
// closed or the run fails: timers fire at their time, and the clock does not stand still for calls
// under way. Functions passed to Post run when they arrive.
func (k *Kernel) RunLive(stop <-chan struct{}, speed float64) Reason {
	pace := pace{begun: time.Now(), from: k.now, speed: speed}
	k.live, k.speed = true, speed
	defer func() { k.live, k.speed = false, 0 }()
	for {
		k.flights.drainPosts()
		if k.failure != nil {
			return Failed
		}
		if p := k.pick(); p != nil {
			k.resume(p)
			continue
		}
		k.depart()
		if k.enter() {
			continue
		}
		now := pace.elapsed()
		if next, ok := k.timers.peek(); ok && next.at <= now {
			k.advance(Until{})
			continue
		}
		k.moveTo(now)
		select {
		case <-stop:
			return Done
		default:
			k.await(pace, stop)
		}
	}
}

// Real returns the virtual time that passes while a program, which lives by the real clock, takes
// d. A faster cluster has proportionally more patience.
func (k *Kernel) Real(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, k.speed))
}

// pace translates between the real and the virtual clock.
type pace struct {
	begun time.Time
	from  time.Duration
	speed float64
}

func (p pace) elapsed() time.Duration {
	return p.from + time.Duration(float64(time.Since(p.begun))*p.speed)
}

// until returns the real time that is left before a virtual time.
func (p pace) until(at time.Duration) time.Duration {
	return time.Duration(float64(at-p.elapsed()) / p.speed)
}

// await blocks until there may be something to do.
func (k *Kernel) await(p pace, stop <-chan struct{}) {
	at := k.now + time.Hour // the limit if there is no timer
	if next, ok := k.timers.peek(); ok {
		at = next.at
	}
	wait := time.NewTimer(max(p.until(at), 0))
	defer wait.Stop()
	select {
	case <-k.flights.notify:
		// An arrival happens at its own time, not at that of the previous event.
		k.moveTo(min(p.elapsed(), at))
	case <-wait.C:
	case <-stop:
	}
}

package kernel

import "time"

// RunLive schedules processes by the real clock, speed times as fast, until stop is closed or the
// run fails. Timers fire at their time, and the clock does not stop for calls in progress.
// Functions passed to Post run when they arrive.
func (k *Kernel) RunLive(stop <-chan struct{}, speed float64) Reason {
	clock := &realClock{begun: time.Now(), from: k.now, speed: speed}
	k.live, k.speed = true, speed
	defer func() { k.live, k.speed = k.clock != nil, 0 }()
	return k.runPaced(Until{}, clock, stop)
}

// Real returns the virtual time that passes while a program runs for d of real time. A faster
// cluster has proportionally more patience.
func (k *Kernel) Real(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(1, k.speed))
}

// runPaced is Run at the pace of another clock. It also ends when stop is closed. Calls do not wait
// for each other.
func (k *Kernel) runPaced(u Until, clock pacer, stop <-chan struct{}) Reason {
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
		if u.Cond != nil && u.Cond() {
			return Done
		}
		if k.enter() {
			continue
		}
		if u.StopWhenQuiet && k.busy == 0 && len(k.flights.open) == 0 && len(k.flights.landing) == 0 {
			return Quiet
		}
		if reason, ended := k.paced(u, clock, stop); ended {
			return reason
		}
	}
}

// paced moves the clock to the next due event, or blocks until there may be a due event.
func (k *Kernel) paced(u Until, clock pacer, stop <-chan struct{}) (Reason, bool) {
	at, reach := k.nextDue(u), clock.reach()
	switch {
	case at == forever && reach == forever:
		return Stuck, true
	case reach == forever && k.opts.Hold != nil && k.opts.Hold(at, k.flights.notify):
		return 0, false
	case at <= reach && at == u.At:
		k.moveTo(at)
		return Deadline, true
	case at <= reach:
		k.landDue(at)
		return 0, false
	}
	k.moveTo(max(k.now, min(reach, at)))
	select {
	case <-stop:
		return Done, true
	default:
		k.await(clock, at, stop)
	}
	return 0, false
}

// nextDue returns the virtual time of the next timer, answer or limit; forever for none.
func (k *Kernel) nextDue(u Until) time.Duration {
	at := forever
	if u.At > 0 {
		at = u.At
	}
	if next, ok := k.timers.peek(); ok {
		at = min(at, next.at)
	}
	if due, ok := k.flights.nextLanding(); ok {
		at = min(at, due)
	}
	return at
}

// await blocks until there may be something to do.
func (k *Kernel) await(clock pacer, at time.Duration, stop <-chan struct{}) {
	wait := time.NewTimer(max(clock.until(min(at, k.now+time.Hour)), 0))
	defer wait.Stop()
	select {
	case <-k.flights.notify:
		// An arrival has its own time, not that of the previous event.
		k.moveTo(max(k.now, min(clock.reach(), at)))
	case <-wait.C:
	case <-stop:
	}
}

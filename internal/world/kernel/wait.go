package kernel

import "time"

// Wake makes a parked process ready, or makes its next Park return at once. A wake-up is a hint:
// the process checks its condition again. Wake may be called by other processes and from hooks of
// the store.
func (p *Process) Wake() {
	p.k.followWake(p)
	switch {
	case p.state == parked && !p.defersWakes:
		p.k.because(p)
		p.k.makeReady(p)
	case p.state == executing || p.defersWakes:
		p.woken = true
	} // a process that is about to run will notice the change anyway
}

// Park yields until the process is woken. why is the reason in the report of a deadlock.
func (p *Process) Park(why string) {
	if p.woken {
		p.woken = false
		return
	}
	p.why = why
	p.state = parked
	p.giveWay()
}

// Rest is Park for a process that will wait for long and needs nothing on its stack. It releases
// the stack, and runs body when it is woken. It must be the last call of the process before it
// returns.
func (p *Process) Rest(why string, body func(*Process)) {
	p.why, p.body, p.resting, p.reacts = why, body, true, false
}

// React is Rest for a body that never yields, such as an informer's. The body runs on the kernel's
// own stack, and its end unwinds nothing.
func (p *Process) React(why string, body func(*Process)) {
	p.Rest(why, body)
	p.reacts = true
}

// GoOn makes a reacting process continue immediately with body, which may yield. It must be the
// last call of its body before it returns.
func (p *Process) GoOn(body func(*Process)) {
	p.body, p.resting, p.reacts, p.woken = body, true, false, true
}

// YieldTo is Yield for a reacting process, which then continues with body. It must be the last call
// of its body before it returns.
func (p *Process) YieldTo(body func(*Process), words ...string) {
	p.body, p.resting = body, true
	p.woken = !p.standsBack(words)
}

// rests reports whether a returned body will run again later. It becomes ready at once if it was
// woken meanwhile.
func (p *Process) rests() bool {
	if !p.resting {
		return false
	}
	p.resting = false
	if p.state == executing && !p.woken {
		p.state = parked
	}
	p.woken = false
	return true
}

// ParkUntil is Park with a limit in virtual time since the start of the run. It returns false when
// the limit is reached.
func (p *Process) ParkUntil(why string, at time.Duration) bool {
	return p.parkUntil(why, at, false)
}

func (p *Process) parkUntil(why string, at time.Duration, idle bool) bool {
	if p.woken {
		p.woken = false
		return true
	}
	if at <= p.k.now {
		return false
	}
	p.why = why
	p.state = parked
	t := p.k.schedule(p, at, idle)
	p.giveWay()
	return !t.fired(p.k.now)
}

// Wait yields until cond is true. cond is evaluated again after each wake-up.
func (p *Process) Wait(why string, cond func() bool) {
	for !cond() {
		p.Park(why)
	}
}

// WaitUntil is Wait with a limit in virtual time since the beginning of the run. It reports whether
// cond became true in time.
func (p *Process) WaitUntil(why string, at time.Duration, cond func() bool) bool {
	for !cond() {
		if !p.ParkUntil(why, at) && !cond() {
			return false
		}
	}
	return true
}

// Sleep yields for d of virtual time. Wake-ups do not shorten it; they stay pending for the next
// Park.
func (p *Process) Sleep(d time.Duration) { p.sleep(d, false) }

// Idle is Sleep for housekeeping. A run with only housekeeping left counts as quiet.
func (p *Process) Idle(d time.Duration) { p.sleep(d, true) }

func (p *Process) sleep(d time.Duration, idle bool) {
	if d <= 0 {
		return
	}
	p.why = "sleep"
	p.state = parked
	p.defersWakes = true
	p.k.schedule(p, p.k.now+d, idle)
	p.giveWay()
	p.defersWakes = false
}

// IdleUntil parks the process until it is woken, or until housekeeping is due at the given time
// since the start of the run. It returns false if housekeeping is due.
func (p *Process) IdleUntil(why string, at time.Duration) bool {
	return p.parkUntil(why, at, true)
}

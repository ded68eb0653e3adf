package kernel

import "time"

// Wake makes a parked process ready, or makes its next Park return at once. A
// wake-up is a hint: who waits looks again at what it waits for. Wake may be
// called by other processes and from hooks of the store.
func (p *Process) Wake() {
	p.k.followWake(p)
	switch {
	case p.state == parked && !p.deaf:
		p.k.because(p)
		p.k.makeReady(p)
	case p.state == executing || p.deaf:
		p.woken = true
	} // a process that is about to run will see the news anyway
}

// Park gives way until the process is woken. why is what it waits for, in words
// for the report of a deadlock.
func (p *Process) Park(why string) {
	if p.woken {
		p.woken = false
		return
	}
	p.why = why
	p.state = parked
	p.giveWay()
}

// Rest is Park for a process that will wait for long and has nothing on its stack
// that it needs: the stack goes, and when the process is woken it runs body. It is
// the last thing that a process does before it returns.
func (p *Process) Rest(why string, body func(*Process)) {
	p.why, p.body, p.resting, p.reacts = why, body, true, false
}

// React is Rest for a body that never gives way, such as that of an informer which only hands on what is new: it runs on the
// kernel's own stack, which is at hand, and nothing has to be unwound at its end.
func (p *Process) React(why string, body func(*Process)) {
	p.Rest(why, body)
	p.reacts = true
}

// GoOn has a process that reacts go on with body at once, which may give way. It is the last thing that its body does before
// it returns.
func (p *Process) GoOn(body func(*Process)) {
	p.body, p.resting, p.reacts, p.woken = body, true, false, true
}

// YieldTo is Yield for a process that reacts: the last thing that its body does before it returns. It goes on with body.
func (p *Process) YieldTo(body func(*Process), words ...string) {
	p.body, p.resting = body, true
	p.woken = !p.standsBack(words)
}

// rests reports whether the body that has returned wants to go on later. It does at
// once if there is news already.
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

// ParkUntil is Park with a limit in virtual time since the beginning of the run;
// it reports false when the limit was reached.
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

// Wait gives way until cond holds. cond is looked at again after each wake-up.
func (p *Process) Wait(why string, cond func() bool) {
	for !cond() {
		p.Park(why)
	}
}

// WaitUntil is Wait with a limit in virtual time since the beginning of the run.
// It reports whether cond held in time.
func (p *Process) WaitUntil(why string, at time.Duration, cond func() bool) bool {
	for !cond() {
		if !p.ParkUntil(why, at) && !cond() {
			return false
		}
	}
	return true
}

// Sleep gives way for d of virtual time. Wake-ups do not shorten it; they stay
// pending for the next Park.
func (p *Process) Sleep(d time.Duration) { p.sleep(d, false) }

// Idle is Sleep for housekeeping: a run in which nothing else is left to do
// counts as quiet.
func (p *Process) Idle(d time.Duration) { p.sleep(d, true) }

func (p *Process) sleep(d time.Duration, idle bool) {
	if d <= 0 {
		return
	}
	p.why = "sleep"
	p.state = parked
	p.deaf = true
	p.k.schedule(p, p.k.now+d, idle)
	p.giveWay()
	p.deaf = false
}

// IdleUntil parks until woken or until housekeeping is due at the given time
// since the beginning of the run; false means it is due.
func (p *Process) IdleUntil(why string, at time.Duration) bool {
	return p.parkUntil(why, at, true)
}

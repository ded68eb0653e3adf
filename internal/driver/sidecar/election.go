package sidecar

import (
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Election is shared by the replicas of a sidecar. Only a Lease of the API decides about the
// leader. The Election records whether a replica leads, because waiting replicas must not keep a
// run busy then.
type Election struct {
	leader  *Life // nil while none leads
	standby []*kernel.Process
}

// jitterFactor bounds the random extension of the retry period between two attempts to lead, as a
// multiple of that period. (client-go, tools/leaderelection: JitterFactor)
const jitterFactor = 1.2

// Lock is a Lease that replicas of a program compete for.
type Lock struct {
	Namespace, Name string
	// Identity identifies the leader. Default: the name of its pod.
	Identity string
}

// Lead returns when the sidecar leads; without leader election it returns immediately. C-LIB-2
func (l *Life) Lead(p *kernel.Process, lock string) {
	if l.program.flags.Elects() {
		l.elect(p, Lock{Namespace: Namespace, Name: Sanitized(lock)}, lock)
	}
}

// Elect returns when the sidecar holds the Lease. It then renews the lease. When it cannot, the
// sidecar exits immediately, and a call in progress loses its caller. C-LIB-4
func (l *Life) Elect(p *kernel.Process, lock Lock) { l.elect(p, lock, lock.Name) }

// elect also takes the name of the Lease in events.
func (l *Life) elect(p *kernel.Process, lock Lock, called string) {
	c := newCandidate(l, lock, called)
	if c.election = l.program.flags.Election; c.election == nil { // there are no other replicas
		c.election = &Election{}
	}
	const steps = 12
	for !c.try(p) {
		jitter := float64(p.Kernel().Choose(kernel.Jitter, steps+1, c.identity+" tries to lead")) / steps
		c.election.await(p, p.Elapsed()+c.flags.RetryPeriod+time.Duration(jitter*jitterFactor*float64(c.flags.RetryPeriod)))
	}
	c.election.leader, l.election = l, c.election
	c.report("became leader")
	c.component.Go("lease", c.renew)
}

// await waits for the leader's end, which is housekeeping, or for the end of its lease.
func (e *Election) await(p *kernel.Process, until time.Duration) {
	e.standby = append(e.standby, p)
	defer func() {
		e.standby = slices.DeleteFunc(e.standby, func(other *kernel.Process) bool { return other == p })
	}()
	for p.Elapsed() < until {
		if e.leader == nil {
			p.Sleep(until - p.Elapsed())
		} else {
			p.IdleUntil("the leader's end", until)
		}
	}
}

// abdicate ends the leadership of a life that has ended, if that life led.
func (l *Life) abdicate() {
	e := l.election
	if e == nil || e.leader != l {
		return
	}
	e.leader = nil
	for _, p := range e.standby {
		p.Wake()
	}
}

// renew renews the lease. When no renewal succeeds within the deadline, the sidecar exits. C-LIB-4
func (c *candidate) renew(p *kernel.Process) {
	for c.renewed(p) {
		p.Idle(c.flags.RetryPeriod)
	}
	c.report("stopped leading")
	c.exit()
}

func (c *candidate) renewed(p *kernel.Process) bool {
	deadline := p.Elapsed() + c.flags.RenewDeadline
	for next := p.Elapsed() + c.flags.RetryPeriod; ; next += c.flags.RetryPeriod {
		if c.tryUntil(p, deadline) {
			return true
		}
		p.Sleep(min(next, deadline) - p.Elapsed())
		if p.Elapsed() >= deadline {
			return false
		}
	}
}

// tryUntil makes an attempt, and aborts its requests at the deadline.
func (c *candidate) tryUntil(p *kernel.Process, deadline time.Duration) (renewed bool) {
	attempt := c.component.Go("renewal", func(q *kernel.Process) { renewed = c.try(q) })
	attempt.OnEnd(p.Wake)
	p.WaitUntil("the renewal of its lease", deadline, attempt.Ended)
	return renewed
}

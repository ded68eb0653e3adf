package attachdetach

import (
	"maps"
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

// Names of operations. C-OP-1
const (
	attachOperation = "volume_attach"
	detachOperation = "volume_detach"
)

// reconcile is the loop of the reconciler.
func (c *Controller) reconcile(p *kernel.Process) {
	tick := p.Tick(pollPeriod)
	const why = "a difference between desired and actual state"
	var passes func(*kernel.Process)
	passes = func(p *kernel.Process) {
		for {
			c.pass(p)
			at, ok := c.agenda.next()
			if !ok {
				tick.Rest(why, passes)
				return
			}
			tick.WaitUntil(why, at)
		}
	}
	passes(p)
}

// pass detaches first, then attaches, and then writes the status of nodes. C-ADC-20
func (c *Controller) pass(p *kernel.Process) {
	for _, at := range c.agenda.takeDue(p.Elapsed()) {
		c.dirty[at] = true
	}
	work := slices.SortedFunc(maps.Keys(c.dirty), pair.compare)
	clear(c.dirty)
	for _, at := range work {
		c.agenda.cancel(at)
	}
	for _, at := range work {
		if c.desired.get(at) == nil && c.actual.get(at) != nil { // C-ADC-21
			c.tryDetach(p, at)
		}
	}
	for _, at := range c.turns(work) {
		if want := c.desired.get(at); want != nil {
			c.tryAttach(at, want)
		}
	}
	c.patchNodes(p)
}

// tryDetach starts a detach unless there is a reason against it. C-ADC-22
func (c *Controller) tryDetach(p *kernel.Process, at pair) {
	key := c.actual.volumes[at.volume].spec.operationKey(at)
	if !c.ops.SafeToRetry(key, detachOperation) {
		c.retryLater(at, key, detachOperation)
		return
	}
	if err := c.mustWait(at, c.actual.volumes[at.volume].spec); err != nil {
		return
	}
	found := c.actual.get(at)
	if !found.detachAsked {
		found.detachAsked, found.askedAt = true, p.Elapsed()
	}
	view := detachView{
		waited:       p.Elapsed() - found.askedAt,
		mounted:      c.actual.inUse[at.node][at.volume],
		neverByForce: c.opts.DisableForceDetachOnTimeout,
	}
	view.healthy, view.outOfService = c.nodeCondition(at.node)
	verdict := view.decide()
	if !verdict.detach {
		if !view.healthy && !view.neverByForce {
			c.agenda.set(at, found.askedAt+maxWaitForUnmount+1)
		}
		return
	}
	c.actual.unreport(at)
	if err := c.patchNode(p, at.node); err != nil { // C-ADC-27
		c.actual.report(at)
		c.mark(at)
		return
	}
	err := c.operate(key, detachOperation, c.actual.volumes[at.volume].spec, func(p *kernel.Process) error { return c.detach(p, at, verdict.force == "") })
	switch {
	case err != nil: // C-ADC-28
		c.actual.report(at)
		c.retryLater(at, key, detachOperation)
	case verdict.force != "":
		c.Metrics.Add(forcedDetaches, 1, "reason", verdict.force)
	}
}

// tryAttach starts an attach unless the volume is attached, has an operation in progress, or is
// attached to another node that excludes this one. C-ADC-32..34
func (c *Controller) tryAttach(at pair, want *desiredVolume) {
	key := want.spec.operationKey(at)
	if c.ops.IsPending(key) {
		return
	}
	if c.actual.confirmed(at) {
		c.actual.get(at).detachAsked = false // C-ADC-23
		return
	}
	if !want.spec.multiAttachAllowed() {
		if others := c.actual.confirmedNodes(at.volume); len(others) > 0 {
			c.reportMultiAttach(at, want, others)
			return
		}
	}
	pods := want.scheduled()
	if err := c.mustWait(at, want.spec); err != nil {
		c.reportFailure(want.spec, pods, err)
		return
	}
	err := c.operate(key, attachOperation, want.spec, func(p *kernel.Process) error { return c.attach(p, at, want.spec, pods) })
	if err != nil {
		c.retryLater(at, key, attachOperation)
		return
	}
	c.tookTurn(at)
}

// operate starts an operation and counts it when it has ended.
func (c *Controller) operate(key operation.Key, name string, s *spec, body func(*kernel.Process) error) error {
	return c.ops.Run(key, name, func(p *kernel.Process) error {
		begin := p.Elapsed()
		err := body(p)
		c.observe(name, s, p.Elapsed()-begin, err)
		return err
	})
}

// retryLater schedules a pair for the end of its backoff. The end of an operation that still runs
// is reported by operationEnded.
func (c *Controller) retryLater(at pair, key operation.Key, name string) {
	if when, ok := c.ops.RetryAt(key, name); ok {
		c.agenda.set(at, when)
	}
}

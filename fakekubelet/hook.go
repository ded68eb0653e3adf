package fakekubelet

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// hookLimit bounds the time that a hook at the start of a container may take.
const hookLimit = 2 * time.Minute

// postStart runs the hook at the start of the container. A hook that fails ends the container.
func (c *container) postStart(p *kernel.Process) {
	if c.spec.Lifecycle == nil || c.spec.Lifecycle.PostStart == nil || !c.running() {
		return
	}
	if err := c.runHook(p, c.spec.Lifecycle.PostStart, hookLimit); err != nil {
		c.Event(c.pod, corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed")
		c.Event(c.pod, corev1.EventTypeNormal, "Killing", "FailedPostStartHook")
		c.end(p, c.preStop(p, c.grace()))
	}
}

// preStop runs the hook before the end of the container, and returns the remaining grace period.
func (c *container) preStop(p *kernel.Process, grace time.Duration) time.Duration {
	if c.spec.Lifecycle == nil || c.spec.Lifecycle.PreStop == nil {
		return grace
	}
	began := p.Elapsed()
	if err := c.runHook(p, c.spec.Lifecycle.PreStop, grace); err != nil {
		c.Event(c.pod, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed")
	}
	return max(grace-(p.Elapsed()-began), leastGrace)
}

// runHook runs a hook. A hook of a record has no effect unless it is a sleep.
func (c *container) runHook(p *kernel.Process, h *corev1.LifecycleHandler, limit time.Duration) error {
	switch {
	case h.Sleep == nil && c.program.IsRecord():
	case h.Exec != nil:
		code, output, err := c.program.Exec(p, h.Exec.Command, limit)
		if err == nil && code != 0 {
			err = fmt.Errorf("command %q exited with %d: %s", h.Exec.Command, code, output)
		}
		return err
	case h.Sleep != nil:
		p.WaitUntil("the end of a hook's sleep", p.Elapsed()+min(limit, time.Duration(h.Sleep.Seconds)*time.Second), func() bool { return !c.running() })
	case h.HTTPGet != nil:
		answer, err := c.get(p, "hook", h.HTTPGet, limit)
		if err != nil {
			return err
		}
		if !answer.OK {
			return errors.New(answer.Output)
		}
	}
	return nil
}

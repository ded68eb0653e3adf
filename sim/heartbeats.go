package sim

import "time"

// leasePeriod is how often a living kubelet renews its node lease.
const leasePeriod = 10 * time.Second

// heartbeats tells the node controller when a kubelet last renewed its lease.
// Renewals are computed, not made: an idle cluster stays idle.
type heartbeats struct {
	cluster  *Simulation
	onChange []func(node string)
}

// LastRenewal is the virtual time, since the run began, of the last renewal;
// alive says that renewals go on.
func (h *heartbeats) LastRenewal(name string) (last time.Duration, alive bool) {
	n, err := h.cluster.node(name)
	if err != nil {
		return 0, false
	}
	until := n.stopped
	if n.kubelet != nil {
		until = h.cluster.World.Kernel.Elapsed()
	}
	periods := max(0, (until-n.started)/leasePeriod)
	return n.started + periods*leasePeriod, n.kubelet != nil
}

// OnChange registers f to be told when a kubelet starts or ends.
func (h *heartbeats) OnChange(f func(node string)) { h.onChange = append(h.onChange, f) }

func (c *Simulation) heartbeatChanged(node string) {
	if c.beats == nil {
		return
	}
	for _, f := range c.beats.onChange {
		f(node)
	}
}

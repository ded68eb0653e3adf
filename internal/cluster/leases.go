package cluster

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// leasePeriod is the interval at which a running kubelet renews its node lease.
const leasePeriod = 10 * time.Second

// leaseSeconds is the duration of a node lease.
const leaseSeconds = 40

// LastRenewal returns the virtual time, since the start of the run, of a kubelet's last renewal of
// its lease. alive reports whether the kubelet continues to renew it. Renewals are computed, not
// made: an idle cluster stays idle. API clients see the renewals as Lease objects.
func (all *Nodes) LastRenewal(name string) (last time.Duration, alive bool) {
	n := all.Find(name)
	if n == nil {
		return 0, false
	}
	until := n.stopped
	if n.Kubelet != nil {
		until = all.World.Kernel.Elapsed()
	}
	periods := max(0, (until-n.started)/leasePeriod)
	return n.started + periods*leasePeriod, n.Kubelet != nil
}

// OnChange registers f to be called when a kubelet starts or ends.
func (all *Nodes) OnChange(f func(node string)) { all.onChange = append(all.onChange, f) }

// changed records that the kubelet of a node has started or ended.
func (all *Nodes) changed(n *Node) {
	for _, f := range all.onChange {
		f(n.Name)
	}
}

// PublishLeases writes the leases of nodes from now on.
func (all *Nodes) PublishLeases() {
	c := all.World.Start("node-leases", "")
	c.Go("", func(p *kernel.Process) {
		for {
			for _, n := range all.All {
				if last, alive := all.LastRenewal(n.Name); alive {
					all.renew(p, c, n.Name, last)
				}
			}
			p.Idle(leasePeriod)
		}
	})
}

// renew writes one lease. A lease that cannot be written waits for the next round.
func (all *Nodes) renew(p *kernel.Process, c *component.Component, node string, last time.Duration) {
	owner, ok := component.Cached[*corev1.Node](c, store.Key{Name: node})
	if !ok {
		return
	}
	renewed := metav1.NewMicroTime(all.World.Kernel.Now().Add(last - p.Elapsed()))
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: corev1.NamespaceNodeLease, Name: node,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: owner.UID}},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &node, LeaseDurationSeconds: new(int32(leaseSeconds)), RenewTime: &renewed},
	}
	if there, ok := component.Cached[*coordinationv1.Lease](c, store.KeyOf(lease)); ok {
		lease.ResourceVersion = there.ResourceVersion
		_, _ = component.Update(p, c, lease)
		return
	}
	_, _ = component.Create(p, c, lease)
}

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

// leasePeriod is how often a living kubelet renews its node lease.
const leasePeriod = 10 * time.Second

// leaseSeconds is the duration of a node lease.
const leaseSeconds = 40

// Leases says when a kubelet last renewed its lease. Renewals are computed, not made:
// an idle cluster stays idle. Clients of the API see them as Lease objects.
type Leases struct {
	// World has the clock and the API.
	World *component.World
	// Nodes returns the names of the nodes, Kubelet the kubelet of a node; false for no such node.
	Nodes   func() []string
	Kubelet func(node string) (Kubelet, bool)

	onChange []func(node string)
}

// Kubelet is a kubelet, with the virtual times at which it last started and ended.
type Kubelet struct {
	Runs             bool
	Started, Stopped time.Duration
}

// LastRenewal is the virtual time, since the run began, of the last renewal;
// alive says that renewals go on.
func (l *Leases) LastRenewal(name string) (last time.Duration, alive bool) {
	k, ok := l.Kubelet(name)
	if !ok {
		return 0, false
	}
	until := k.Stopped
	if k.Runs {
		until = l.World.Kernel.Elapsed()
	}
	periods := max(0, (until-k.Started)/leasePeriod)
	return k.Started + periods*leasePeriod, k.Runs
}

// OnChange registers f to be called when a kubelet starts or ends.
func (l *Leases) OnChange(f func(node string)) { l.onChange = append(l.onChange, f) }

// Changed reports that the kubelet of a node has started or ended.
func (l *Leases) Changed(node string) {
	for _, f := range l.onChange {
		f(node)
	}
}

// Publish writes the leases of nodes from now on.
func (l *Leases) Publish() {
	c := l.World.Start("node-leases", "")
	c.Go("", func(p *kernel.Process) {
		for {
			for _, name := range l.Nodes() {
				if last, alive := l.LastRenewal(name); alive {
					l.renew(p, c, name, last)
				}
			}
			p.Idle(leasePeriod)
		}
	})
}

// renew writes one lease. One that cannot be written is left to the next round.
func (l *Leases) renew(p *kernel.Process, c *component.Component, node string, last time.Duration) {
	owner, ok := component.Cached[*corev1.Node](c, store.Key{Name: node})
	if !ok {
		return
	}
	renewed := metav1.NewMicroTime(l.World.Kernel.Now().Add(last - p.Elapsed()))
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

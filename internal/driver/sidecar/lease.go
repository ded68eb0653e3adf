package sidecar

import (
	"cmp"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/store"
)

// Namespace is the namespace of sidecars.
const Namespace = "kube-system"

// candidate is a sidecar that tries to lead, with its last observation of the lease. Like client-go
// it uses only its own clock: a lease has expired if no change was observed for its duration.
// C-LIB-4
type candidate struct {
	*Life
	flags    Flags
	election *Election
	key      store.Key // of the lease
	called   string    // its name in events, which is not sanitized
	identity string

	lease      *coordinationv1.Lease    // as last read or written
	read       coordinationv1.LeaseSpec // as last read
	observed   coordinationv1.LeaseSpec // as last read or written
	observedAt time.Duration
}

func newCandidate(l *Life, lock Lock, called string) *candidate {
	return &candidate{
		Life: l, flags: l.program.flags.withLease(), key: store.Key{Namespace: lock.Namespace, Name: lock.Name}, called: called,
		identity: cmp.Or(lock.Identity, Sanitized(cmp.Or(l.program.flags.Pod, "csisim"))),
	}
}

// try acquires the lease, or renews it.
func (c *candidate) try(p *kernel.Process) bool {
	if c.leads() && c.valid(p) && c.write(p) {
		return true
	}
	found, err := component.Live[*coordinationv1.Lease](p, c.component, c.key)
	switch {
	case apierrors.IsNotFound(err):
		return c.create(p)
	case err != nil:
		return false
	}
	c.lease = found
	if !equality.Semantic.DeepEqual(c.read, found.Spec) {
		c.read = found.Spec
		c.observe(p, found.Spec)
	}
	if ptr.Deref(found.Spec.HolderIdentity, "") != "" && c.valid(p) && !c.leads() {
		return false
	}
	return c.write(p)
}

// leads reports whether the sidecar held the lease at the last observation. A lease from an earlier
// start of its container also counts.
func (c *candidate) leads() bool { return ptr.Deref(c.observed.HolderIdentity, "") == c.identity }

func (c *candidate) valid(p *kernel.Process) bool {
	return c.observedAt+time.Duration(ptr.Deref(c.observed.LeaseDurationSeconds, 0))*time.Second > p.Elapsed()
}

func (c *candidate) observe(p *kernel.Process, spec coordinationv1.LeaseSpec) {
	c.observed, c.observedAt = spec, p.Elapsed()
}

func (c *candidate) create(p *kernel.Process) bool {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.key.Namespace, Name: c.key.Name}, Spec: c.record(p)}
	lease.Spec.LeaseTransitions = ptr.To[int32](0)
	created, err := component.Create(p, c.component, lease)
	return c.written(p, created, err)
}

func (c *candidate) write(p *kernel.Process) bool {
	lease := c.lease.DeepCopy()
	transitions := ptr.Deref(c.observed.LeaseTransitions, 0)
	lease.Spec = c.record(p)
	if c.leads() {
		lease.Spec.AcquireTime = c.observed.AcquireTime
	} else {
		transitions++
	}
	lease.Spec.LeaseTransitions = &transitions
	updated, err := component.Update(p, c.component, lease)
	return c.written(p, updated, err)
}

func (c *candidate) written(p *kernel.Process, lease *coordinationv1.Lease, err error) bool {
	if err != nil {
		return false
	}
	c.lease = lease
	c.observe(p, lease.Spec)
	return true
}

// record returns the sidecar's spec of the lease.
func (c *candidate) record(p *kernel.Process) coordinationv1.LeaseSpec {
	now := metav1.NewMicroTime(p.Now())
	return coordinationv1.LeaseSpec{
		HolderIdentity: &c.identity, LeaseDurationSeconds: ptr.To(int32(c.flags.LeaseDuration / time.Second)),
		AcquireTime: &now, RenewTime: &now,
	}
}

// report emits the event of a change.
func (c *candidate) report(what string) {
	c.component.EventFrom(c.called+"/"+c.identity, c.lease, "Normal", "LeaderElection", "%s %s", c.identity, what)
}

var unsafe = lazyregexp.New("[^a-zA-Z0-9-]")

// Sanitized makes a name fit for the API. C-LIB-4
func Sanitized(name string) string {
	name = unsafe().ReplaceAllString(name, "-")
	if strings.HasSuffix(name, "-") {
		name += "X"
	}
	return name
}

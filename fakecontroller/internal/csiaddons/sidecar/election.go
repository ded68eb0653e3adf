package sidecar

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// How long a lease is good for, and how often it is renewed or asked for. A-SIDE-1
const (
	leaseDuration = 15 * time.Second
	retryPeriod   = 5 * time.Second
)

// Leases knows which holders of leases live and renew them: renewals, every 5 s for ever,
// would be the only thing that happens in most clusters, so they are not written. The zero
// value knows of none.
type Leases struct{ held map[store.Key]*holding }

type holding struct {
	since   time.Duration // when it was taken, since the beginning
	ended   time.Duration // when the holder ended
	lives   bool
	waiting []*kernel.Process
}

// elect asks for the driver's lease until it has it, and keeps it until the sidecar ends.
// A-LEAD-1, A-LEAD-2
func (r *run) elect(p *kernel.Process, driver string) {
	key := store.Key{Namespace: r.opts.LeaseNamespace, Name: LeaseName(driver)}
	me := sidecar.Sanitized(r.opts.Pod.Name)
	for !r.take(p, key, me) {
		r.leases.awaitEnd(p, key)
	}
	r.leases.hold(p, key)
	p.Wait("the end of its lease", func() bool { return false })
}

// take reports whether the lease is the sidecar's own now.
func (r *run) take(p *kernel.Process, key store.Key, me string) bool {
	now := component.Live[*coordinationv1.Lease]
	lease, err := now(p, r.Component, key)
	if apierrors.IsNotFound(err) {
		seconds, transitions := int32(leaseDuration/time.Second), int32(0)
		lease = &coordinationv1.Lease{}
		lease.Namespace, lease.Name = key.Namespace, key.Name
		lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &me, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions}
		if lease, err = component.Create(p, r.Component, lease); err == nil {
			r.won(lease, me)
		}
		return err == nil
	}
	if err != nil || r.leases.isHeld(key) {
		return false
	}
	mine := lease.DeepCopy()
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder != me {
		transitions := int32(1)
		if lease.Spec.LeaseTransitions != nil {
			transitions += *lease.Spec.LeaseTransitions
		}
		mine.Spec.HolderIdentity, mine.Spec.LeaseTransitions = &me, &transitions
		if mine, err = component.Update(p, r.Component, mine); err != nil {
			return false
		}
		r.won(mine, me)
	}
	return true
}

func (r *run) won(lease *coordinationv1.Lease, me string) {
	r.EventFrom(lease.Name+"/"+me, lease, corev1.EventTypeNormal, "LeaderElection", "%s became leader", me)
}

func (l *Leases) isHeld(key store.Key) bool { return l.held[key] != nil && l.held[key].lives }

// hold has the lease renewed as long as the process lives.
func (l *Leases) hold(p *kernel.Process, key store.Key) {
	if l.held == nil {
		l.held = map[store.Key]*holding{}
	}
	h := &holding{since: p.Elapsed(), lives: true}
	l.held[key] = h
	p.OnEnd(func() {
		h.lives, h.ended = false, p.Elapsed()
		for _, waiting := range h.waiting {
			waiting.Wake()
		}
	})
}

// awaitEnd waits until the lease has not been renewed for its whole duration: it is not
// given back by a sidecar that ends. A-LEAD-2
func (l *Leases) awaitEnd(p *kernel.Process, key store.Key) {
	h := l.held[key]
	if h == nil {
		p.Sleep(retryPeriod)
		return
	}
	h.waiting = append(h.waiting, p)
	p.Wait("the end of who holds the lease", func() bool { return !h.lives })
	renewals := (h.ended - h.since) / retryPeriod
	p.Sleep(h.since + renewals*retryPeriod + leaseDuration + retryPeriod/2 - p.Elapsed())
}

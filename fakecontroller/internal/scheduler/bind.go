package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The interval at which the scheduler checks for bound volumes, and the time until it gives up.
// C-SCHED-8
const (
	bindTimeout = 600 * time.Second
	bindPoll    = time.Second
)

// bind assumes the pod on its node and binds it. If its volumes have to be bound first, this
// happens in the background.
func (s *Scheduler) bind(p *kernel.Process, a *attempt, c choice) {
	s.cluster.place(a.pod, c.node.name)
	if len(a.delayed) == 0 {
		s.bindPod(p, a, c)
		return
	}
	plan := s.reserve(c)
	key := store.KeyOf(a.pod)
	s.binding[key] = s.Go("binding of "+key.String(), func(p *kernel.Process) {
		s.waitFor(a.claims, p)
		err := s.bindVolumes(p, a, c.node.name, plan)
		s.doneWaiting(a.claims, p)
		delete(s.binding, key)
		if err != nil {
			s.release(plan)
			s.failed(p, a.pod, fmt.Errorf("running PreBind plugin %q: binding volumes: %w", "VolumeBinding", err))
			return
		}
		s.bindPod(p, a, c)
	})
}

func (s *Scheduler) bindPod(p *kernel.Process, a *attempt, c choice) {
	p.Yield("bind")
	pod, err := kind.BindPod(s.Store, kind.Binding{Pod: store.KeyOf(a.pod), Node: c.node.name})
	if err != nil {
		s.failed(p, a.pod, fmt.Errorf("running Bind plugin %q: %w", "DefaultBinder", err))
		return
	}
	s.Report(pod, corev1.EventTypeNormal, "Scheduled", "Binding",
		fmt.Sprintf("Successfully assigned %s to %s", store.KeyOf(pod), c.node.name))
}

// failed drops an assumed pod and retries it later.
func (s *Scheduler) failed(p *kernel.Process, pod *corev1.Pod, err error) {
	s.cluster.remove(pod.UID)
	now, ok := component.Cached[*corev1.Pod](s.Component, store.KeyOf(pod))
	if !ok || now.UID != pod.UID || !schedulable(now) {
		return
	}
	s.queue.fail(store.KeyOf(pod), p.Elapsed())
	s.tellFailure(p, now, corev1.PodReasonSchedulerError, err.Error())
	s.loop.Wake()
}

// reserve assumes the volumes as bound and the node as selected, so that no other pod gets them.
// C-SCHED-7
func (s *Scheduler) reserve(c choice) bindingPlan {
	var plan bindingPlan
	for _, b := range c.plan.static {
		pv, dirty, err := storagevolume.GetBindVolumeToClaim(b.volume, b.claim)
		if err == nil && dirty {
			b.volume = pv
			s.volumes.Put(pv)
		}
		plan.static = append(plan.static, b)
	}
	for _, claim := range c.plan.provision {
		selected := store.Fork(claim)
		metav1.SetMetaDataAnnotation(&selected.ObjectMeta, storagevolume.AnnSelectedNode, c.node.name)
		s.claims.Put(selected)
		plan.provision = append(plan.provision, selected)
	}
	return plan
}

// release forgets assumed bindings. Writes to the API stay.
// C-SCHED-9
func (s *Scheduler) release(plan bindingPlan) {
	for _, b := range plan.static {
		s.volumes.Drop(store.KeyOf(b.volume))
	}
	for _, claim := range plan.provision {
		s.claims.Drop(store.KeyOf(claim))
	}
}

// bindVolumes writes the decisions to the API and waits for the PV controller and the provisioner.
// C-SCHED-8
func (s *Scheduler) bindVolumes(p *kernel.Process, a *attempt, node string, plan bindingPlan) error {
	start := p.Elapsed()
	written, err := s.writePlan(p, plan)
	if err != nil {
		return err
	}
	for {
		if !p.IdleUntil("volumes of pod "+a.pod.Name, start+bindTimeout) {
			return fmt.Errorf("context deadline exceeded")
		}
		elapsed := p.Elapsed() - start
		p.Sleep(bindPoll - elapsed%bindPoll)
		if bound, err := s.checkBindings(a, node, written); err != nil || bound {
			return err
		}
	}
}

// writePlan updates volumes, then claims, and returns the results of the API.
func (s *Scheduler) writePlan(p *kernel.Process, plan bindingPlan) (bindingPlan, error) {
	var written bindingPlan
	for _, b := range plan.static {
		pv, err := component.Update(p, s.Component, b.volume)
		if err != nil {
			return written, err
		}
		s.volumes.Put(pv)
		written.static = append(written.static, staticBinding{b.claim, pv})
	}
	for _, claim := range plan.provision {
		updated, err := component.Update(p, s.Component, claim)
		if err != nil {
			return written, err
		}
		s.claims.Put(updated)
		written.provision = append(written.provision, updated)
	}
	return written, nil
}

// checkBindings reports whether all volumes are bound. An error means that they can never be bound.
func (s *Scheduler) checkBindings(a *attempt, node string, plan bindingPlan) (bool, error) {
	if pod, ok := component.Cached[*corev1.Pod](s.Component, store.KeyOf(a.pod)); !ok || pod.UID != a.pod.UID {
		return false, fmt.Errorf("pod does not exist any more: %w", store.NotFound[*corev1.Pod](store.KeyOf(a.pod)))
	}
	n := s.cluster.node(node)
	if n.object == nil {
		return false, fmt.Errorf("failed to get node %q: %w", node, store.NotFound[*corev1.Node](store.Key{Name: node}))
	}
	done := true
	for _, b := range plan.static {
		bound, err := s.staticBound(b, n)
		if err != nil {
			return false, err
		}
		done = done && bound
	}
	for _, claim := range plan.provision {
		bound, err := s.provisioned(claim, n)
		if err != nil {
			return false, err
		}
		done = done && bound
	}
	return done, nil
}

func (s *Scheduler) staticBound(b staticBinding, n *node) (bool, error) {
	pv, ok := component.Cached[*corev1.PersistentVolume](s.Component, store.KeyOf(b.volume))
	switch {
	case !ok:
		return false, fmt.Errorf("failed to check binding: %w", store.NotFound[*corev1.PersistentVolume](store.KeyOf(b.volume)))
	case component.Version(pv) < component.Version(b.volume):
		// The API's answer is newer than the cache.
		return false, nil
	case !fitsAffinity(pv, n):
		return false, fmt.Errorf("pv %q node affinity doesn't match node %q", pv.Name, n.name)
	case pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID == "":
		return false, fmt.Errorf("ClaimRef got reset for pv %q", pv.Name)
	}
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](s.Component, store.KeyOf(b.claim))
	return ok && fullyBound(claim), nil
}

func (s *Scheduler) provisioned(written *corev1.PersistentVolumeClaim, n *node) (bool, error) {
	claim, ok := component.Cached[*corev1.PersistentVolumeClaim](s.Component, store.KeyOf(written))
	switch {
	case !ok:
		return false, fmt.Errorf("failed to check provisioning pvc: %w", store.NotFound[*corev1.PersistentVolumeClaim](store.KeyOf(written)))
	case component.Version(claim) < component.Version(written):
		return false, nil
	case claim.Annotations[storagevolume.AnnSelectedNode] != n.name:
		return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
	case claim.Spec.VolumeName == "":
		return false, nil
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](s.Component, store.Key{Name: claim.Spec.VolumeName})
	if ok && !fitsAffinity(pv, n) {
		return false, fmt.Errorf("pv %q node affinity doesn't match node %q", pv.Name, n.name)
	}
	return ok && fullyBound(claim), nil
}

// waitFor wakes a binding when one of its claims changes.
func (s *Scheduler) waitFor(claims []store.Key, p *kernel.Process) {
	for _, key := range claims {
		if s.waiters[key] == nil {
			s.waiters[key] = map[*kernel.Process]bool{}
		}
		s.waiters[key][p] = true
	}
}

func (s *Scheduler) doneWaiting(claims []store.Key, p *kernel.Process) {
	for _, key := range claims {
		if delete(s.waiters[key], p); len(s.waiters[key]) == 0 {
			delete(s.waiters, key)
		}
	}
}

func (s *Scheduler) wakeWaiters(claim store.Key) { wakeAll(s.waiters[claim]) }

func (s *Scheduler) wakeBinder(pod store.Key) {
	if p, ok := s.binding[pod]; ok {
		p.Wake()
	}
}

// wakeBinding makes all bindings check again.
func (s *Scheduler) wakeBinding() {
	all := map[*kernel.Process]bool{}
	for _, p := range s.binding {
		all[p] = true
	}
	wakeAll(all)
}

// wakeAll wakes processes in the order of their start.
func wakeAll(processes map[*kernel.Process]bool) {
	if len(processes) == 0 { // nearly always true
		return
	}
	sorted := slices.SortedFunc(maps.Keys(processes), func(a, b *kernel.Process) int { return cmp.Compare(a.ID(), b.ID()) })
	for _, p := range sorted {
		p.Wake()
	}
}

package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// news is the scheduler's informers.
type news struct {
	nodes       *store.Watcher[*corev1.Node]
	csiNodes    *store.Watcher[*storagev1.CSINode]
	pods        *store.Watcher[*corev1.Pod]
	claims      *store.Watcher[*corev1.PersistentVolumeClaim]
	volumes     *store.Watcher[*corev1.PersistentVolume]
	classes     *store.Watcher[*storagev1.StorageClass]
	attachments *store.Watcher[*storagev1.VolumeAttachment]
	drivers     *store.Watcher[*storagev1.CSIDriver]
	capacities  *store.Watcher[*storagev1.CSIStorageCapacity]
}

func (s *Scheduler) watch(p *kernel.Process) *news {
	c := s.Component
	return &news{
		nodes:       component.Watch[*corev1.Node](c, p),
		csiNodes:    component.Watch[*storagev1.CSINode](c, p),
		pods:        component.Watch[*corev1.Pod](c, p),
		claims:      component.Watch[*corev1.PersistentVolumeClaim](c, p),
		volumes:     component.Watch[*corev1.PersistentVolume](c, p),
		classes:     component.Watch[*storagev1.StorageClass](c, p),
		attachments: component.Watch[*storagev1.VolumeAttachment](c, p),
		drivers:     component.Watch[*storagev1.CSIDriver](c, p),
		capacities:  component.Watch[*storagev1.CSIStorageCapacity](c, p),
	}
}

// takeIn updates the scheduler's state and queues the pods that a change may help. C-SCHED-10,
// C-SCHED-27
func (n *news) takeIn(s *Scheduler) {
	each(n.nodes, s.nodeChanged)
	each(n.csiNodes, s.csiNodeChanged)
	each(n.pods, s.podChanged)
	each(n.claims, s.claimChanged)
	each(n.volumes, s.volumeChanged)
	each(n.classes, s.classChanged)
	each(n.attachments, func(e store.Event[*storagev1.VolumeAttachment]) {
		if e.Type == store.Deleted {
			s.activatePods(nodeVolumeLimits, func(pod *corev1.Pod) bool { return mayNeedPlace(pod, e.Object.Spec.Attacher) })
		}
	})
	each(n.drivers, func(e store.Event[*storagev1.CSIDriver]) {
		if e.Type == store.Modified && checksCapacity(e.Old) && !checksCapacity(e.Object) {
			s.activatePods(volumeBinding, func(pod *corev1.Pod) bool { return describesVolumeOf(pod, e.Object.Name) })
		}
	})
	each(n.capacities, func(e store.Event[*storagev1.CSIStorageCapacity]) {
		if e.Type == store.Added || e.Type == store.Modified && isLess(limitOf(e.Old), limitOf(e.Object)) {
			s.queue.activateRejected(setOf(volumeBinding))
		}
	})
}

// activatePods queues the waiting pods that a plugin has rejected and that this event may help.
func (s *Scheduler) activatePods(by plugin, helped func(*corev1.Pod) bool) {
	s.queue.activateWhere(func(w *waitingPod) bool {
		if !w.plugins.has(by) {
			return false
		}
		pod, ok := component.Cached[*corev1.Pod](s.Component, w.key)
		return ok && helped(pod)
	})
}

// mayNeedPlace reports whether the end of an attachment can help a pod. The pod needs claims, or
// disks that the driver attaches.
func mayNeedPlace(pod *corev1.Pod, attacher string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		driver, _, _ := csiVolumeOfDisk(&v)
		return v.PersistentVolumeClaim != nil || driver == attacher
	})
}

// describesVolumeOf reports whether a pod has an inline volume of the driver. If a driver stops
// publishing its capacity, only such pods are activated, although it helps only pods with claims:
// the real scheduler reads the wrong field.
func describesVolumeOf(pod *corev1.Pod, driver string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.CSI != nil && v.CSI.Driver == driver })
}

// classChanged: only the topologies of a class can change.
func (s *Scheduler) classChanged(e store.Event[*storagev1.StorageClass]) {
	switch {
	case e.Type == store.Added:
		s.queue.activateRejected(setOf(volumeBinding, claimsOfPod))
	case e.Type == store.Modified && !equality.Semantic.DeepEqual(e.Old.AllowedTopologies, e.Object.AllowedTopologies):
		s.queue.activateRejected(setOf(volumeBinding, claimsOfPod))
	}
}

// isLess compares capacities; nil is less than any capacity.
func isLess(before, now *resource.Quantity) bool {
	return now != nil && (before == nil || before.Cmp(*now) < 0)
}

func each[T store.Object](w *store.Watcher[T], handle func(store.Event[T])) {
	for w.Len() > 0 { // most watches have no news
		e, _ := w.Next()
		handle(e)
	}
}

// nodeReasons are the plugins that read the Node object.
var nodeReasons = setOf(nodeUnschedulable, taintToleration, nodeAffinity, nodePorts, nodeResources, volumeBinding, volumeZone, podTopologySpread, interPodAffinity)

func (s *Scheduler) nodeChanged(e store.Event[*corev1.Node]) {
	if e.Type == store.Deleted {
		s.cluster.removeNode(e.Object.Name)
		s.wakeBinding()
		return
	}
	s.cluster.setNode(e.Object)
	if e.Type == store.Added || nodeMattersNow(e.Old, e.Object) {
		by := nodeReasons
		if e.Type == store.Added {
			by |= setOf(nodeVolumeLimits, volumeRestrictions, claimsOfPod)
		}
		s.queue.activateRejected(by)
	}
}

func nodeMattersNow(old, now *corev1.Node) bool {
	return old.Spec.Unschedulable != now.Spec.Unschedulable || !maps.Equal(old.Labels, now.Labels) ||
		!equality.Semantic.DeepEqual(old.Spec.Taints, now.Spec.Taints) ||
		!equality.Semantic.DeepEqual(old.Status.Allocatable, now.Status.Allocatable)
}

func (s *Scheduler) csiNodeChanged(e store.Event[*storagev1.CSINode]) {
	n := s.cluster.node(e.Object.Name)
	before := n.limits
	n.limits, n.installed, n.migrated = nil, map[string]bool{}, migration.OnNode(e.Object)
	if e.Type == store.Deleted {
		n.migrated = nil
		return
	}
	grown := e.Type == store.Added
	for _, d := range e.Object.Spec.Drivers {
		n.installed[d.Name] = true
		if d.Allocatable == nil || d.Allocatable.Count == nil {
			continue
		}
		if n.limits == nil {
			n.limits = map[string]int64{}
		}
		n.limits[d.Name] = int64(*d.Allocatable.Count)
		grown = grown || n.limits[d.Name] > before[d.Name]
	}
	var by pluginSet
	if grown { // C-SCHED-27
		by |= setOf(nodeVolumeLimits)
	}
	if e.Type == store.Added || !maps.Equal(n.migrated, migration.OnNode(e.Old)) { // C-SCHED-10
		by |= setOf(volumeBinding)
	}
	s.queue.activateRejected(by)
}

// podChanged handles a finished pod like a pod that has left its node.
func (s *Scheduler) podChanged(e store.Event[*corev1.Pod]) {
	// The real scheduler exits when the node of a pod changes, and is restarted.
	// [backend/cache/cache.go UpdatePod]
	if e.Replaced() {
		s.podGone(e.Old)
		e.Type, e.Old = store.Added, nil
	}
	pod, key := e.Object, store.KeyOf(e.Object)
	s.queue.setPriority(key, priorityOf(pod))
	gone := e.Type == store.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case gone:
		s.podGone(pod)
	case pod.Spec.NodeName != "":
		s.queue.forget(key)
		delete(s.nominations, key)
		s.cluster.place(pod, pod.Spec.NodeName)
		if e.Old == nil || e.Old.Spec.NodeName == "" || !maps.Equal(e.Old.Labels, pod.Labels) {
			s.neighbourCame(pod)
		} else if e.Old.DeletionTimestamp == nil && pod.DeletionTimestamp != nil {
			s.queue.activateRejected(setOf(podTopologySpread))
		}
	case !schedulable(pod):
		s.queue.forget(key)
		delete(s.nominations, key)
		s.wakeBinder(key)
	case e.Type == store.Added || podMattersNow(e.Old, pod):
		s.queue.activate(key)
	}
}

// neighbourCame queues two kinds of pods: those with affinity to a placed pod, and those that a
// changed pod no longer excludes.
func (s *Scheduler) neighbourCame(other *corev1.Pod) {
	s.activatePods(interPodAffinity, func(pod *corev1.Pod) bool {
		together := togetherTerms(pod)
		return len(together) == 0 || s.selectAll(together, other)
	})
	s.queue.activateRejected(setOf(podTopologySpread))
}

func (s *Scheduler) podGone(pod *corev1.Pod) {
	s.queue.forget(store.KeyOf(pod))
	delete(s.nominations, store.KeyOf(pod))
	s.wakeBinder(store.KeyOf(pod))
	place := s.cluster.remove(pod.UID)
	if place == nil {
		return
	}
	by := setOf(nodePorts, nodeResources, volumeRestrictions, podTopologySpread, interPodAffinity)
	if place.hasVolumes() {
		by |= setOf(nodeVolumeLimits)
	}
	s.queue.activateRejected(by)
}

// podMattersNow reports whether anything in a pod except its status has changed.
func podMattersNow(old, now *corev1.Pod) bool {
	return old.Generation != now.Generation || !maps.Equal(old.Labels, now.Labels)
}

func (s *Scheduler) claimChanged(e store.Event[*corev1.PersistentVolumeClaim]) {
	key := store.KeyOf(e.Object)
	s.wakeWaiters(key)
	if e.Old == nil || e.Old.Spec.VolumeName != e.Object.Spec.VolumeName {
		s.cluster.claimChanged(key)
	}
	if e.Type == store.Deleted {
		s.claims.Drop(key)
		return
	}
	by := setOf(volumeBinding, claimsOfPod, volumeZone)
	if e.Type == store.Added {
		by |= setOf(nodeVolumeLimits, volumeRestrictions)
	}
	s.queue.activateUsers(key, by)
}

func (s *Scheduler) volumeChanged(e store.Event[*corev1.PersistentVolume]) {
	if ref := e.Object.Spec.ClaimRef; ref != nil {
		s.wakeWaiters(store.Key{Namespace: ref.Namespace, Name: ref.Name})
	}
	if e.Type == store.Deleted {
		s.volumes.Drop(store.KeyOf(e.Object))
		return
	}
	s.queue.activateRejected(setOf(volumeBinding, volumeZone))
}

// claimsOf returns the claims of a pod's volumes.
func claimsOf(pod *corev1.Pod) []store.Key {
	var claims []store.Key
	for i := range pod.Spec.Volumes {
		if key, _, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i]); ok && !slices.Contains(claims, key) {
			claims = append(claims, key)
		}
	}
	return claims
}

// Package volumemanager is the kubelet's volume manager. It collects the volumes that pods need
// (desired state of world), tracks the mounted volumes (actual state of world), and starts
// operations that turn the actual into the desired state.
package volumemanager

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/operation"
)

// Pods gives access to the state of the pod workers.
type Pods interface {
	// Pod returns the known state of a pod on this node, until the pod is deleted from the API or
	// replaced.
	Pod(uid types.UID) (*corev1.Pod, bool)
	// Listed reports whether all pods of the node are known.
	Listed() bool
	// Terminating reports whether the pod's containers should stop. K-DSW-3
	Terminating(uid types.UID) bool
	// RuntimeGone reports whether the pod's containers have stopped permanently, or the kubelet
	// does not know the pod. K-POD-5
	RuntimeGone(uid types.UID) bool
	// VolumesChanged wakes the worker or clean-up that waits for the pod's volumes, because their
	// state has changed.
	VolumesChanged(uid types.UID)
}

// Options describe the node.
type Options struct {
	// SELinux means that the node enforces SELinux.
	SELinux bool
	// Migration holds the migration stages of in-tree plugins in this kubelet.
	Migration migration.Plugins
}

// Manager is the volume manager of one kubelet.
type Manager struct {
	kubelet   *component.Component
	csi       *csi.Plugin
	pods      Pods
	seLinux   bool
	migration migration.Plugins
	ops       *operation.Pending
	desired   *desired
	actual    *actual

	populator  *populator
	reconciler *reconciler
	onInUse    func()
}

// Start starts the volume manager's loops. The volumes on disk are entered before the first pass.
// K-VM-1
func Start(kubelet *component.Component, plugin *csi.Plugin, pods Pods, o Options) *Manager {
	m := &Manager{
		kubelet: kubelet, csi: plugin, pods: pods, seLinux: o.SELinux, migration: o.Migration,
		desired: newDesired(), actual: newActual(), onInUse: func() {},
	}
	m.ops = operation.New(kubelet.Kernel, kubelet.Go, func(key operation.Key) { m.reconciler.look(key.Volume) })
	m.reconciler = newReconciler(m)
	m.populator = newPopulator(m)
	kubelet.Metrics.Collect(m.collect)
	m.reconstruct()
	m.populator.start()
	m.reconciler.start()
	return m
}

// PodChanged makes the populator process a pod: it is new, changed or terminating, or its
// containers have stopped.
func (m *Manager) PodChanged(uid types.UID) {
	if pod, ok := m.pods.Pod(uid); ok {
		m.desired.refresh(pod)
	}
	m.populator.look(uid)
}

// PodDeleted records that the API has deleted a pod.
func (m *Manager) PodDeleted(uid types.UID) { m.populator.deleted[uid] = m.kubelet.Kernel.Elapsed() }

// PodsListed notifies the populator that all pods are known. K-DSW-1
func (m *Manager) PodsListed() { m.populator.process.Wake() }

// NodeChanged rechecks the volumes that may wait for the Node object: for their attachment, or for
// labels. K-ATT-4, K-OP-9
func (m *Manager) NodeChanged() {
	// In any order: a pass sorts its volumes.
	for name, w := range m.desired.volumes {
		if v := m.actual.volumes[name]; v == nil || len(v.pods) < len(w.pods) {
			m.reconciler.look(name)
		}
	}
}

// OnInUseChanged sets the function to be called when VolumesInUse may have changed.
func (m *Manager) OnInUseChanged(f func()) { m.onInUse = f }

// VolumesInUse returns the list for node.status.volumesInUse: attachable volumes that are desired
// or mounted. ok is false until the reconciler has found all mounted volumes. K-REC-11, K-ATT-2
func (m *Manager) VolumesInUse() (names []corev1.UniqueVolumeName, ok bool) {
	if !m.reconciler.synced {
		return nil, false
	}
	for name, v := range m.desired.volumes {
		if v.attachable {
			names = append(names, corev1.UniqueVolumeName(name))
		}
	}
	for name, v := range m.actual.volumes {
		if v.attachable == yes {
			names = append(names, corev1.UniqueVolumeName(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// MarkReportedInUse stores the list that the API server now has, and sets or clears the flag of
// every volume. K-DSW-14, K-ATT-3
func (m *Manager) MarkReportedInUse(names []corev1.UniqueVolumeName) {
	reported := map[string]bool{}
	for _, name := range names {
		reported[string(name)] = true
	}
	// In any order: a pass sorts its volumes.
	for name, v := range m.desired.volumes {
		if v.reportedInUse != reported[name] {
			v.reportedInUse = reported[name]
			m.reconciler.look(name)
		}
	}
}

// ReportedInUse reports whether all desired volumes that need attaching have been reported in use.
func (m *Manager) ReportedInUse() bool {
	for _, v := range m.desired.volumes {
		if v.attachable && !v.reportedInUse {
			return false
		}
	}
	return true
}

// SpecOf returns the volume with a name in the pod; nil if it is not desired.
func (m *Manager) SpecOf(uid types.UID, volumeName string) *csi.Spec {
	for _, name := range m.desired.ofPod[uid] {
		if by := m.desired.wants(name, uid); slices.Contains(by.volumeNames, volumeName) {
			return by.spec
		}
	}
	return nil
}

// Mounted returns the volumes of a pod that are certainly mounted, by their names in the pod.
// K-STAT-2
func (m *Manager) Mounted(uid types.UID) map[string]*csi.Spec {
	specs := map[string]*csi.Spec{}
	for _, name := range m.desired.ofPod[uid] {
		if held := m.actual.pod(name, uid); held == nil || held.state != mounted {
			continue
		}
		by := m.desired.wants(name, uid)
		for _, volumeName := range by.volumeNames {
			specs[volumeName] = by.spec
		}
	}
	return specs
}

// NeedsSyncs reports whether regular syncs of a pod affect its volumes, because a driver requires
// one of them to be republished. K-PUB-16
func (m *Manager) NeedsSyncs(uid types.UID) bool {
	for _, name := range m.desired.ofPod[uid] {
		if m.republishes(m.desired.wants(name, uid).spec.Driver()) {
			return true
		}
	}
	return false
}

// HasGrown reports whether the next sync of a pod will find a larger volume. K-EXP-2
func (m *Manager) HasGrown(uid types.UID) bool {
	for _, name := range m.desired.ofPod[uid] {
		if w := m.desired.volumes[name]; !w.pods.Get(uid).spec.ReadOnly && w.hasGrown() {
			return true
		}
	}
	return false
}

// changed wakes everything that depends on the state of a volume and of its mounts for pods.
func (m *Manager) changed(name string, pods ...types.UID) {
	m.reconciler.look(name)
	for _, uid := range pods {
		m.populator.look(uid)
		m.pods.VolumesChanged(uid)
	}
	m.onInUse()
}

package volumemanager

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// startMount stages (for the first pod) and publishes a volume in one operation. K-PUB-15
func (r *reconciler) startMount(p *kernel.Process, v *held, by *wantedBy) {
	key := mountKey(v.name, by)
	if !by.spec.Block() {
		r.run(key, "volume_mount", by.spec, func(p *kernel.Process) error { return r.mount(p, v, by) })
	} else if r.prepareMap(p, by) {
		r.run(key, "map_volume", by.spec, func(p *kernel.Process) error { return r.mapBlock(p, v, by) })
	}
}

var errReadWriteOncePod = errors.New("volume uses the ReadWriteOncePod access mode and is already in use by another pod")

// mount is the operation volume_mount. K-MNT-1
func (m *Manager) mount(p *kernel.Process, v *held, by *wantedBy) error {
	spec, uid := by.spec, by.pod.UID
	if err := m.nodeAffinity(spec); err != nil {
		return m.failMount(by, "NodeAffinity check", err)
	}
	if exclusive(spec) && v.mountedElsewhere(uid) {
		return m.failMount(by, "SetUp", errReadWriteOncePod)
	}
	if spec.Inline == nil {
		if err := m.waitForAttach(p, spec); err != nil {
			return m.failMount(by, "WaitForAttach", err)
		}
		if v.device != globallyMounted {
			if err := m.csi.MountDevice(p, spec, by.pod, by.label); err != nil {
				v.deviceFailed(by.label, err)
				m.changed(v.name)
				return m.failMount(by, "MountDevice", err)
			}
			v.setDevice(globallyMounted, by.label)
		}
	}
	if err := m.csi.SetUp(p, spec, by.pod, by.label, v.keepsDirs(by)); err != nil {
		m.actual.podFailed(v, by, err)
		m.changed(v.name, uid)
		return m.failMount(by, "SetUp", err)
	}
	target, staging := m.csi.TargetPath(uid, spec.Name), ""
	if spec.PV != nil {
		staging = m.csi.StagingPath(spec)
	}
	if err := m.expandDuringMount(p, v, by, target, staging); err != nil {
		m.markUncertain(v, by)
		return m.fail(by, "FailedMount", "MountVolume.Setup failed while expanding volume", err)
	}
	m.observeMount(by)
	m.markMounted(v, by)
	return nil
}

// markUncertain records that a volume is published, but not large enough for the pod, even if it
// was mounted before. K-MNT-6
func (m *Manager) markUncertain(v *held, by *wantedBy) {
	m.actual.setPod(v, by.pod.UID, by.spec, uncertain, by.label).remount = false
	m.changed(v.name, by.pod.UID)
}

func (m *Manager) markMounted(v *held, by *wantedBy) {
	held := m.actual.setPod(v, by.pod.UID, by.spec, mounted, by.label)
	held.remount, held.reconstructed = false, false
	m.changed(v.name, by.pod.UID)
}

// failMount emits an event about the pod, except for an operation that could not start. K-PUB-12,
// K-EVT-3
func (m *Manager) failMount(by *wantedBy, step string, err error) error {
	return m.fail(by, "FailedMount", "MountVolume."+step+" failed", err)
}

// fail emits an event that names the failed step of an operation and the reason.
func (m *Manager) fail(by *wantedBy, reason, what string, err error) error {
	m.kubelet.Event(by.pod, corev1.EventTypeWarning, reason, "%s for volume %q : %v", what, by.spec.Name, err)
	return err
}

// exclusive: the access modes are exactly [ReadWriteOncePod]. K-MNT-3
func exclusive(spec *csi.Spec) bool {
	return spec.PV != nil && slices.Equal(spec.PV.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod})
}

// keepsDirs reports whether directories stay after a final error, as for a remount or a
// reconstructed volume. K-PUB-10, K-RECON-9
func (v *held) keepsDirs(by *wantedBy) bool {
	held := v.pods.Get(by.pod.UID)
	return held != nil && (held.reconstructed || held.state == mounted)
}

// nodeAffinity checks the volume against the cached node's labels. K-MNT-1
func (m *Manager) nodeAffinity(spec *csi.Spec) error {
	if spec.PV == nil || spec.PV.Spec.NodeAffinity == nil {
		return nil
	}
	node, ok := component.Cached[*corev1.Node](m.kubelet, m.node())
	if !ok {
		return store.NotFound[*corev1.Node](m.node())
	}
	return volumehelpers.CheckNodeAffinity(spec.PV, node.Labels)
}

// waitForAttach checks the VolumeAttachment once. K-ATT-7
func (m *Manager) waitForAttach(p *kernel.Process, spec *csi.Spec) error {
	if !volume.MustAttach(m.kubelet, spec.Driver()) || seeded.IsMade(seeded.StagedUnattached) {
		return nil
	}
	handle := spec.Handle("")
	id := volume.AttachmentName(handle, spec.Driver(), m.kubelet.Node)
	va, err := component.Live[*storagev1.VolumeAttachment](p, m.kubelet, store.Key{Name: id})
	switch {
	case err != nil:
		return fmt.Errorf("volume %v has GET error for volume attachment %v: %w", handle, id, err)
	case va.DeletionTimestamp != nil:
		return errors.New("volume attachment is being deleted")
	case va.Status.Attached:
		return nil
	case va.Status.AttachError != nil:
		return errors.New(va.Status.AttachError.Message)
	default:
		return fmt.Errorf("volume %v is not attached for volume attachment %v", handle, id)
	}
}

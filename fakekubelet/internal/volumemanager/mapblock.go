package volumemanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
)

// prepareMap is the part of map_volume that happens in the reconciler itself, before the check of
// any backoff. Unlike in reality, failures here are not retried in each pass but only after a
// change. K-OP-9, K-BLK-1
func (r *reconciler) prepareMap(p *kernel.Process, by *wantedBy) bool {
	if err := r.nodeAffinity(by.spec); err != nil {
		r.kubelet.Event(by.pod, corev1.EventTypeWarning, "FailedMount", "MapVolume.NodeAffinity check failed for volume %q : %v", by.spec.Name, err)
		return false
	}
	if err := r.csi.NewBlockMapper(p, by.spec); err != nil {
		_ = r.failMap(by, "NewBlockVolumeMapper initialization", err)
		return false
	}
	return true
}

// mapBlock is the asynchronous part of map_volume. K-BLK-1
func (m *Manager) mapBlock(p *kernel.Process, v *held, by *wantedBy) error {
	spec, uid := by.spec, by.pod.UID
	if exclusive(spec) && v.mountedElsewhere(uid) {
		return m.failMap(by, "SetUpDevice", errReadWriteOncePod)
	}
	if err := m.waitForAttach(p, spec); err != nil {
		return m.failMap(by, "WaitForAttach", err)
	}
	staging := ""
	if v.device != globallyMounted {
		var err error
		if staging, err = m.csi.SetUpDevice(p, spec); err != nil {
			v.deviceFailed(by.label, err)
			m.changed(v.name)
			return m.failMap(by, "SetUpDevice", err)
		}
		v.device = globallyMounted
	}
	if err := m.csi.MapPodDevice(p, spec, by.pod); err != nil {
		m.actual.podFailed(v, by, err)
		m.changed(v.name, uid)
		return m.failMap(by, "MapPodDevice", err)
	}
	if err := m.mapDevice(p, v, by); err != nil { // the volume is published nevertheless. K-BLK-5
		m.actual.podFailed(v, by, csi.UncertainError{})
		m.changed(v.name, uid)
		return err
	}
	m.tellMapped(by)
	if err := m.expandDuringMount(p, v, by, v.devicePath, staging); err != nil {
		m.markUncertain(v, by)
		return m.fail(by, "FailedMapVolume", "MapVolume.MarkVolumeAsMounted failed while expanding volume", err)
	}
	m.markMounted(v, by)
	return nil
}

// mapDevice makes the published device known to the pod. K-BLK-6, K-BLK-7
func (m *Manager) mapDevice(p *kernel.Process, v *held, by *wantedBy) error {
	device, err := m.csi.PublishedDevice(by.spec, by.pod)
	if err != nil {
		return m.failMap(by, "EvalHostSymlinks", err)
	}
	v.devicePath = device
	if err := m.csi.MapBlockVolume(p, by.spec, by.pod, device); err != nil {
		return m.failMap(by, "MapBlockVolume", err)
	}
	return nil
}

func (m *Manager) failMap(by *wantedBy, step string, err error) error {
	return m.fail(by, "FailedMapVolume", "MapVolume."+step+" failed", err)
}

// tellMapped emits the two events of a mapped device. K-BLK-8
func (m *Manager) tellMapped(by *wantedBy) {
	mapDir, podDir := m.csi.BlockMapping(by.spec, by.pod)
	m.kubelet.Event(by.pod, corev1.EventTypeNormal, "SuccessfulMountVolume", "MapVolume.MapPodDevice succeeded for volume %q globalMapPath %q", by.spec.Name, mapDir)
	m.kubelet.Event(by.pod, corev1.EventTypeNormal, "SuccessfulMountVolume", "MapVolume.MapPodDevice succeeded for volume %q volumeMapPath %q", by.spec.Name, podDir)
}

package volumemanager

import (
	"slices"

	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// exhausted returns a driver that has no room on this node for a volume of the waiting pod; empty
// if there is none. It considers only drivers with refreshed limits. K-ALLOC-3
func (m *Manager) exhausted(p *kernel.Process, pod *corev1.Pod, unattached []string) string {
	for _, name := range slices.Clone(m.desired.ofPod[pod.UID]) {
		by := m.desired.wants(name, pod.UID)
		if !m.desired.volumes[name].attachable || !slices.Contains(unattached, by.volumeNames[0]) {
			continue
		}
		driver := by.spec.Driver()
		d, ok := volume.CSIDriver(m.kubelet, driver)
		if !ok || d.Spec.NodeAllocatableUpdatePeriodSeconds == nil {
			continue
		}
		id := volume.AttachmentName(by.spec.Handle(pod.UID), driver, m.kubelet.Node)
		va, err := component.Live[*storagev1.VolumeAttachment](p, m.kubelet, store.Key{Name: id})
		if err == nil && attachErrorCode(va) == codes.ResourceExhausted {
			return driver
		}
	}
	return ""
}

func attachErrorCode(va *storagev1.VolumeAttachment) codes.Code {
	if e := va.Status.AttachError; e != nil && e.ErrorCode != nil {
		return codes.Code(*e.ErrorCode)
	}
	return codes.OK
}

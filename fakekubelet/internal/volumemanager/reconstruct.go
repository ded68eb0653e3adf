package volumemanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
)

// reconstruct enters the volumes on disk, once, before the first pass. All of them are uncertain
// until a mount or the node's status confirms them. K-RECON-4
func (m *Manager) reconstruct() {
	if seeded.IsMade(seeded.NotReconstructed) {
		return
	}
	found, lost := m.csi.Scan()
	m.reconciler.lost = lost
	m.kubelet.Metrics.Add("reconstruct_volume_operations_total", float64(len(found)+len(lost)))
	m.kubelet.Metrics.Add("reconstruct_volume_operations_errors_total", float64(len(lost)))
	for _, f := range found {
		name := f.Spec.UniqueName(f.Pod)
		v := m.actual.volumes[name]
		if v == nil {
			v = m.actual.attach(name, f.Spec, unknown)
			v.reconstructed = true
		}
		m.actual.setPod(v, f.Pod, f.Spec, uncertain, f.Label).reconstructed = true
		if f.Spec.Inline == nil {
			v.device = deviceUncertain
		} else {
			v.attachable = no
		}
		m.reconciler.unchecked = true
		m.reconciler.look(name)
		m.populator.look(f.Pod)
	}
}

// cleanLost tries once to unpublish the volumes that could not be reconstructed, unless a pod needs
// them. It counts volumes without a data file, and does nothing about them. K-RECON-5
func (r *reconciler) cleanLost() {
	for _, l := range r.lost {
		if r.wantsSpec(l) {
			continue
		}
		r.kubelet.Metrics.Add("force_cleaned_failed_volume_operations_total", 1)
		u, err := r.csi.NewUnmounter(l.Pod, l.Name)
		if err != nil {
			r.kubelet.Metrics.Add("force_cleaned_failed_volume_operation_errors_total", 1)
			continue
		}
		r.run(unmountKey(l.Name, l.Pod), "volume_unmount", nil, u.TearDown)
	}
	r.lost = nil
}

func (r *reconciler) wantsSpec(l csi.Lost) bool {
	for _, name := range r.desired.ofPod[l.Pod] {
		if r.desired.wants(name, l.Pod).spec.Name == l.Name {
			return true
		}
	}
	return false
}

// updateReconstructed reads from the node's status which of the reconstructed volumes are
// attachable. It tries this at the end of each pass until it succeeds. K-RECON-6
func (r *reconciler) updateReconstructed(p *kernel.Process) {
	node, err := component.Live[*corev1.Node](p, r.kubelet, r.node())
	if err != nil {
		r.lookAtAll() // again at the next pass
		return
	}
	r.unchecked = false
	r.actual.judge(func(name string) bool { return lists(node, name) })
	r.lookAtAll()
}

// judge decides whether volumes of unknown attachability are attachable: they are if the node's
// status lists them as attached. K-RECON-6
func (a *actual) judge(attached func(name string) bool) {
	// In any order: volumes are independent.
	for name, v := range a.volumes {
		switch {
		case v.attachable != unknown:
		case attached(name):
			v.attachable = yes
		default:
			v.attachable = no
		}
	}
}

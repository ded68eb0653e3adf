package volumemanager

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
)

// reconstruct enters what the disk shows of volumes, once, before the first
// pass. All of it is uncertain until a mount or the node's status proves it. K-RECON-4
func (m *Manager) reconstruct() {
	for _, f := range m.csi.Scan() {
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

// updateReconstructed asks the node's status, at the end of each pass until it
// answers, which of the reconstructed volumes are attachable. K-RECON-6
func (r *reconciler) updateReconstructed(p *kernel.Process) {
	node, err := component.Live[*corev1.Node](p, r.kubelet, r.node())
	if err != nil {
		r.lookAtAll() // again at the next pass
		return
	}
	r.unchecked = false
	// Volumes are judged one by one, in any order.
	for name, v := range r.actual.volumes {
		switch {
		case v.attachable != unknown:
		case lists(node, name):
			v.attachable = yes
		default:
			v.attachable = no
		}
	}
	r.lookAtAll()
}

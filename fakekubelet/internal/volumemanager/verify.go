package volumemanager

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
)

// startVerify checks whether the controller has attached the volume. The volume must have been
// reported in use, and the cached node must list it as attached. K-ATT-1, K-ATT-4
func (r *reconciler) startVerify(w *wanted, by *wantedBy) {
	if w.attachable {
		if !w.reportedInUse {
			return
		}
		node, ok := component.Cached[*corev1.Node](r.kubelet, r.node())
		if ok && !lists(node, w.name) {
			return
		}
	}
	r.run(deviceKey(w.name), "verify_controller_attached_volume", by.spec, func(p *kernel.Process) error {
		return r.verify(p, w, by)
	})
}

func (m *Manager) node() store.Key { return store.Key{Name: m.kubelet.Node} }

func lists(node *corev1.Node, volume string) bool {
	if seeded.IsMade(seeded.StagedUnattached) {
		return true
	}
	for _, a := range node.Status.VolumesAttached {
		if string(a.Name) == volume {
			return true
		}
	}
	return false
}

// verify checks the attachment with the Node from the API server, not from the cache. K-ATT-5
func (m *Manager) verify(p *kernel.Process, w *wanted, by *wantedBy) error {
	size, err := m.claimSize(p, by)
	if err != nil {
		return err
	}
	attachable := no
	if w.attachable {
		attachable = yes
		if !w.reportedInUse {
			return fmt.Errorf("volume %s is not yet reported in use", w.name)
		}
		node, err := component.Live[*corev1.Node](p, m.kubelet, m.node())
		if err != nil {
			return fmt.Errorf("VerifyControllerAttachedVolume failed fetching node from API server: %w", err)
		}
		if !lists(node, w.name) {
			return fmt.Errorf("volume not attached according to node status for volume %q", by.spec.Name)
		}
	}
	m.actual.attach(w.name, by.spec, attachable).size = size
	m.changed(w.name)
	return nil
}

// claimSize returns the size in the claim's status. An inline volume has no claim. K-ATT-5
func (m *Manager) claimSize(p *kernel.Process, by *wantedBy) (resource.Quantity, error) {
	if !by.spec.HasClaim() {
		return resource.Quantity{}, nil
	}
	claim, err := m.claimOf(p, by)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("VerifyControllerAttachedVolume fetching pvc failed: %w", err)
	}
	return storageOf(claim.Status.Capacity), nil
}

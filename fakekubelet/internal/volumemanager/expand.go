package volumemanager

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// noNodeExpansion is csi-resizer's annotation of a volume that needs no expansion on nodes. K-EXP-6
const noNodeExpansion = "volume.kubernetes.io/node-expansion-not-required"

// expansion is one attempt to expand a volume for a pod.
type expansion struct {
	*Manager
	process *kernel.Process
	volume  *held
	by      *wantedBy
	claim   *corev1.PersistentVolumeClaim
	target  csi.Expansion
}

// startExpansion expands a volume in use. K-EXP-2
func (r *reconciler) startExpansion(v *held, w *wanted, by *wantedBy) {
	r.run(deviceKey(v.name), "volume_fs_resize", by.spec, func(p *kernel.Process) error { return r.expandInUse(p, v, w, by) })
}

// expandInUse is the operation volume_fs_resize. It succeeds
// without an expansion if the status of the claim has to change first. K-EXP-7
func (m *Manager) expandInUse(p *kernel.Process, v *held, w *wanted, by *wantedBy) error {
	target := csi.Expansion{Spec: by.spec, Size: w.size}
	if by.spec.Block() {
		if err := m.csi.NewBlockMapper(p, by.spec); err != nil {
			return m.failExpansion(by, err)
		}
		target.Path, target.Staging = v.devicePath, m.csi.BlockStagingPath(by.spec.Name)
	} else {
		target.Path = m.csi.TargetPath(by.pod.UID, by.spec.Name)
		target.Staging = m.csi.StagingPath(by.spec)
	}
	claim, err := m.claimOf(p, by)
	if err != nil {
		return m.failExpansion(by, fmt.Errorf("mountVolume.NodeExpandVolume get PVC failed : %w", err))
	}
	if by.spec.ReadOnly {
		m.tellReadOnly(by, claim)
		v.size = storageOf(claim.Status.Capacity)
		return nil
	}
	x := &expansion{Manager: m, process: p, volume: v, by: by, claim: claim, target: target}
	done, err := x.run()
	switch {
	case err != nil:
		return m.failExpansion(by, err)
	case done:
		v.size = x.target.Size
	case !v.inUseError:
		m.awaitClaim(v, claim)
	}
	return nil
}

func (m *Manager) failExpansion(by *wantedBy, err error) error {
	return m.fail(by, "VolumeResizeFailed", "NodeExpandVolume.NodeExpandVolume failed", err)
}

// expandDuringMount expands a volume that has just been published, if the claim requests a larger
// size. K-EXP-1, K-EXP-3
func (m *Manager) expandDuringMount(p *kernel.Process, v *held, by *wantedBy, path, staging string) error {
	if !by.spec.HasClaim() {
		return nil
	}
	claim, err := m.claimOf(p, by)
	if err != nil {
		return fmt.Errorf("mountVolume.NodeExpandVolume get PVC failed : %w", err)
	}
	has, wants := storageOf(claim.Status.Capacity), storageOf(by.spec.PV.Spec.Capacity)
	if has.Cmp(wants) >= 0 {
		return nil
	}
	if by.spec.ReadOnly {
		m.tellReadOnly(by, claim)
		return nil
	}
	target := csi.Expansion{Spec: by.spec, Size: wants, Path: path, Staging: staging}
	x := &expansion{Manager: m, process: p, volume: v, by: by, claim: claim, target: target}
	_, err = x.run()
	return err
}

// tellReadOnly emits an event that a read-only volume is not expanded, which is not an error.
// K-EXP-4
func (m *Manager) tellReadOnly(by *wantedBy, claim *corev1.PersistentVolumeClaim) {
	for _, about := range []store.Object{by.pod, claim} {
		m.kubelet.Event(about, corev1.EventTypeWarning, "FileSystemResizeFailed",
			"MountVolume.NodeExpandVolume failed for volume %q requested read-only file system", by.spec.Name)
	}
}

// run expands the volume. Depending on the claim, it follows the protocol of a resizer that can
// recover from failures, or that of an old one. It reports whether nothing is left to do. K-EXP-5
func (x *expansion) run() (done bool, err error) {
	if resizeStatus(x.claim) == "" && x.claim.Status.AllocatedResources == nil {
		return x.legacy()
	}
	x.target.Size = storageOf(x.claim.Status.AllocatedResources)
	return x.recovering()
}

// legacy calls the driver without an event, and writes the claim only at the end. K-EXP-16
func (x *expansion) legacy() (done bool, err error) {
	err = x.csi.NodeExpand(x.process, x.target)
	switch {
	case errors.Is(err, csi.ErrNoExpansion):
		return true, nil
	case errors.Is(err, csi.ErrInUse):
		x.volume.inUseError = true
		return true, nil
	case err != nil:
		return false, err
	}
	x.reportExpanded()
	if has := storageOf(x.claim.Status.Capacity); has.Cmp(x.target.Size) >= 0 {
		return true, nil
	}
	if _, err := x.markExpanded(x.process, x.claim, x.target.Size); err != nil {
		return false, fmt.Errorf("mountVolume.NodeExpandVolume update PVC status failed : %w", err)
	}
	return true, nil
}

// recovering continues only if the claim's status permits it, and writes the state of the
// expansion. K-EXP-6, K-EXP-9
func (x *expansion) recovering() (done bool, err error) {
	allowed, updated := x.precheck()
	if !allowed {
		return updated, nil
	}
	if !updated {
		if x.claim, err = x.markInProgress(x.process, x.claim); err != nil {
			return false, err
		}
	}
	switch err := x.csi.NodeExpand(x.process, x.target); {
	case errors.Is(err, csi.ErrNoExpansion) && updated:
		return true, nil
	case err != nil:
		return false, x.failed(err)
	}
	x.reportExpanded()
	if updated {
		return true, nil
	}
	if _, err := x.markExpanded(x.process, x.claim, x.target.Size); err != nil {
		return true, fmt.Errorf("mountVolume.NodeExpandVolume update pvc status failed: %w", err)
	}
	return true, nil
}

// precheck: updated means that the claim already has the size. Then only volumes on several nodes
// may still need expansion here. K-EXP-6
func (x *expansion) precheck() (allowed, updated bool) {
	status, has := resizeStatus(x.claim), storageOf(x.claim.Status.Capacity)
	updated = has.Cmp(x.target.Size) >= 0 && status == ""
	if updated && slices.Contains(x.claim.Spec.AccessModes, corev1.ReadWriteMany) && !metav1.HasAnnotation(x.claim.ObjectMeta, noNodeExpansion) {
		return true, updated
	}
	return status == corev1.PersistentVolumeClaimNodeResizePending || status == corev1.PersistentVolumeClaimNodeResizeInProgress, updated
}

// failed records the driver's answer, and returns the remaining error. If the driver cannot expand
// a volume in use, there is no retry. K-EXP-11, K-EXP-12, K-EXP-13
func (x *expansion) failed(err error) error {
	if csi.IsFinal(err) {
		wants := storageOf(x.claim.Spec.Resources.Requests)
		otherSize := wants.Cmp(x.target.Size) != 0 && x.volume.expansionFailed
		x.volume.expansionFailed = true
		x.markFailed(x.process, x.claim, errors.Is(err, csi.ErrInfeasible) || otherSize, err)
	}
	if errors.Is(err, csi.ErrInUse) {
		x.volume.inUseError = true
		return nil
	}
	return err
}

// reportExpanded emits events about pod and claim. K-EXP-17
func (x *expansion) reportExpanded() {
	for _, about := range []store.Object{x.by.pod, x.claim} {
		x.kubelet.Event(about, corev1.EventTypeNormal, "FileSystemResizeSuccessful",
			"MountVolume.NodeExpandVolume succeeded for volume %q %s", x.by.spec.Name, x.by.pod.Spec.NodeName)
	}
}

// awaitClaim makes the volume wait until its claim changes. The real kubelet reads it ten times a
// second instead. K-EXP-7
func (m *Manager) awaitClaim(v *held, claim *corev1.PersistentVolumeClaim) {
	v.awaited = store.Watch[*corev1.PersistentVolumeClaim](m.kubelet.Cache, store.ByKey(store.KeyOf(claim)))
	for v.awaited.Len() > 0 { // the claim, if it is already known
		v.awaited.Next()
	}
	v.awaited.OnEvent(func() { m.reconciler.look(v.name) })
}

// needsExpansion reports whether a volume in use is too small and can be expanded. K-EXP-2
func (v *held) needsExpansion(wants resource.Quantity) bool {
	if v.inUseError || v.size.IsZero() || wants.IsZero() || wants.Cmp(v.size) <= 0 {
		return false
	}
	if v.awaited == nil {
		return true
	}
	if v.awaited.Len() == 0 {
		return false
	}
	v.stopAwaiting()
	return true
}

func (v *held) stopAwaiting() {
	if v.awaited != nil {
		v.awaited.Close()
		v.awaited = nil
	}
}

// claimOf reads live the claim of a pod's volume. A node may read only the claims
// of its pods. Fact 49
func (m *Manager) claimOf(p *kernel.Process, by *wantedBy) (*corev1.PersistentVolumeClaim, error) {
	ref := by.spec.PV.Spec.ClaimRef
	key := store.Key{Namespace: ref.Namespace, Name: ref.Name}
	p.Yield("get")
	if m.mayRead(by.pod, key) {
		return component.Live[*corev1.PersistentVolumeClaim](p, m.kubelet, key)
	}
	why := fmt.Sprintf("User %q cannot get resource %q in API group %q in the namespace %q: no relationship found between node '%s' and this object",
		"system:node:"+m.kubelet.Node, "persistentvolumeclaims", "", key.Namespace, m.kubelet.Node)
	return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, key.Name, errors.New(why))
}

// mayRead reports whether the pod exists, or the node has another pod that uses the claim.
func (m *Manager) mayRead(pod *corev1.Pod, claim store.Key) bool {
	if now, ok := store.Get[*corev1.Pod](m.kubelet.Store, store.KeyOf(pod)); ok && now.UID == pod.UID {
		return true
	}
	for other := range store.Indexed[*corev1.Pod](m.kubelet.Store, kind.PodsByNode, m.kubelet.Node) {
		for i := range other.Spec.Volumes {
			if key, _, ok := volume.ClaimOf(other, &other.Spec.Volumes[i]); ok && key == claim {
				return true
			}
		}
	}
	return false
}

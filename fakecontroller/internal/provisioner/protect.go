package provisioner

import (
	"fmt"
	"slices"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// The finalizers that protect a source while a volume is created from it.
const (
	cloneFinalizer    = "provisioner.storage.kubernetes.io/cloning-protection"
	snapshotFinalizer = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection"
)

// protectClaim: C-PROV-43
func (c *Provisioner) protectClaim(p *kernel.Process, key store.Key) error {
	source, ok := component.Cached[claim](c.Component, key)
	switch {
	case !ok:
		return store.NotFound[claim](key)
	case slices.Contains(source.Finalizers, cloneFinalizer):
		return nil
	}
	guarded := source.DeepCopy()
	guarded.Finalizers = append(guarded.Finalizers, cloneFinalizer)
	_, err := component.Update(p, c.Component, guarded)
	return err
}

// releaseClaim releases a claim that is being deleted when no clone of it is in progress. Until
// then it checks again at intervals. C-PROV-43
func (c *Provisioner) releaseClaim(p *kernel.Process, key store.Key) error {
	source, ok := component.Cached[claim](c.Component, key)
	if !ok || !slices.Contains(source.Finalizers, cloneFinalizer) {
		return nil
	}
	for pvc := range store.List[claim](c.Cache, key.Namespace) {
		from := pvc.Spec.DataSource
		if from != nil && from.Kind == claimKind && from.Name == key.Name && pvc.Status.Phase == corev1.ClaimPending {
			return fmt.Errorf("PVC '%s' is in 'Pending' state, cloning in progress", pvc.Name)
		}
	}
	freed := source.DeepCopy()
	freed.Finalizers = volume.WithoutFinalizers(freed.Finalizers, cloneFinalizer)
	_, err := component.Update(p, c.Component, freed)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// protectSnapshot: C-PROV-44
func (c *Provisioner) protectSnapshot(p *kernel.Process, key store.Key) error {
	if !c.options.Version.Has(sidecar.ProtectedSnapshots) {
		return nil
	}
	snap, err := component.Live[*snapshotv1.VolumeSnapshot](p, c.Component, key)
	if err != nil || slices.Contains(snap.Finalizers, snapshotFinalizer) {
		return err
	}
	guarded := snap.DeepCopy()
	guarded.Finalizers = append(guarded.Finalizers, snapshotFinalizer)
	_, err = component.Update(p, c.Component, guarded)
	return err
}

// releaseSnapshot removes the protection of a claim's source snapshot. If this fails, the sweep
// releases it. C-PROV-44
func (c *Provisioner) releaseSnapshot(p *kernel.Process, pvc claim) {
	from := pvc.Spec.DataSource
	if from == nil || from.Kind != snapshotKind {
		return
	}
	snap, err := component.Live[*snapshotv1.VolumeSnapshot](p, c.Component, store.Key{Namespace: pvc.Namespace, Name: from.Name})
	if err == nil && slices.Contains(snap.Finalizers, snapshotFinalizer) {
		c.freeSnapshot(p, snap)
	}
}

func (c *Provisioner) freeSnapshot(p *kernel.Process, snap *snapshotv1.VolumeSnapshot) {
	freed := snap.DeepCopy()
	freed.Finalizers = volume.WithoutFinalizers(freed.Finalizers, snapshotFinalizer)
	_, _ = component.Update(p, c.Component, freed)
}

// sweepPeriod is the interval of the search for protected snapshots without a volume in progress.
const sweepPeriod = 5 * time.Minute

// sweepSnapshots: C-PROV-44
func (c *Provisioner) sweepSnapshots(p *kernel.Process) {
	for {
		awaited := map[store.Key]bool{}
		for pvc := range store.List[claim](c.Cache, "") {
			if from, err := c.dataSourceOf(pvc); err == nil && from.isSnapshot() && pvc.Status.Phase == corev1.ClaimPending {
				awaited[from.key] = true
			}
		}
		var orphans []*snapshotv1.VolumeSnapshot
		for snap := range store.List[*snapshotv1.VolumeSnapshot](c.Cache, "") {
			if slices.Contains(snap.Finalizers, snapshotFinalizer) && !awaited[store.KeyOf(snap)] {
				orphans = append(orphans, snap)
			}
		}
		for _, snap := range orphans {
			c.freeSnapshot(p, snap)
		}
		p.Idle(sweepPeriod)
	}
}

package attacher

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// syncDetach detaches and writes the outcome. C-ATT-21
func (r *run) syncDetach(p *kernel.Process, va *storagev1.VolumeAttachment) error {
	if seeded.IsMade(seeded.DetachedBeforeEnd) {
		if err := r.markDetached(p, store.KeyOf(va)); err != nil {
			return err
		}
	}
	err := r.detach(p, va)
	if err == nil || seeded.IsMade(seeded.DetachedAtError) {
		return r.markDetached(p, store.KeyOf(va))
	}
	failure := &storagev1.VolumeError{Time: metav1.NewTime(p.Now()), Message: err.Error()}
	r.saveError(p, va, func(s *storagev1.VolumeAttachmentStatus) { s.DetachError = failure })
	r.exitIfLost(p, err)
	return err
}

// detach: C-ATT-20
func (r *run) detach(p *kernel.Process, va *storagev1.VolumeAttachment) error {
	from, err := r.sourceOf(va)
	if err != nil {
		return err
	}
	source, err := from.csi()
	if err != nil {
		return err
	}
	secrets, err := r.secrets(p, source.ControllerPublishSecretRef)
	if err != nil {
		return err
	}
	nodeID, err := r.nodeID(p, va.Spec.NodeName, va)
	if err != nil {
		return err
	}
	_, err = csi.NewControllerClient(r.conn(p, r.opts.Timeout)).ControllerUnpublishVolume(context.Background(), &csi.ControllerUnpublishVolumeRequest{
		VolumeId: source.VolumeHandle, NodeId: nodeID, Secrets: secrets,
	})
	return err
}

// markDetached first releases the attachment. If the attachment still exists then, it corrects the
// status. C-ATT-20
func (r *run) markDetached(p *kernel.Process, key store.Key) error {
	if !r.opts.Version.Has(sidecar.DetachedLast) {
		if err := r.clearStatus(p, key); err != nil {
			return err
		}
	}
	_, err := component.PatchMetadata(p, r.Component, key, func(va *storagev1.VolumeAttachment) {
		va.Finalizers = volume.WithoutFinalizers(va.Finalizers, r.features.finalizer)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("could not mark as detached: %w", err)
	}
	return r.clearStatus(p, key)
}

// clearStatus writes that the volume is not attached.
func (r *run) clearStatus(p *kernel.Process, key store.Key) error {
	_, err := component.PatchStatus(p, r.Component, key, func(va *storagev1.VolumeAttachment) {
		va.Status = storagev1.VolumeAttachmentStatus{AttachError: va.Status.AttachError}
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

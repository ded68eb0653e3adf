package attacher

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/status"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// syncAttachment moves one attachment towards its desired state. C-ATT-10, C-ATT-11
func (r *run) syncAttachment(p *kernel.Process, key store.Key) error {
	if r.ending { // the write of the error has queued the attachment again
		p.Wait("its end", func() bool { return false })
	}
	va, ok := component.Cached[*storagev1.VolumeAttachment](r.Component, key)
	if !ok || !r.own(va) {
		return nil
	}
	forced := r.force[key]
	delete(r.force, key)
	if va.DeletionTimestamp != nil {
		if !forced && !slices.Contains(va.Finalizers, r.features.finalizer) {
			return nil
		}
		return r.syncDetach(p, va)
	}
	if !forced && va.Status.Attached {
		return nil
	}
	return r.syncAttach(p, va)
}

// syncTrivially serves drivers without attaching: every attachment is attached. C-ATT-6
func (r *run) syncTrivially(p *kernel.Process, key store.Key) error {
	va, ok := component.Cached[*storagev1.VolumeAttachment](r.Component, key)
	if !ok || !r.own(va) || va.Status.Attached {
		return nil
	}
	return r.markAttached(p, key, nil)
}

// syncAttach attaches and writes the outcome. If an attach succeeded but its outcome could not be
// written, the attach is repeated. C-ATT-15, C-ATT-16
func (r *run) syncAttach(p *kernel.Process, va *storagev1.VolumeAttachment) error {
	metadata, err := r.attach(p, va)
	if err == nil || seeded.IsMade(seeded.AttachedAtError) {
		return r.markAttached(p, store.KeyOf(va), metadata)
	}
	failure := &storagev1.VolumeError{Time: metav1.NewTime(p.Now()), Message: err.Error()}
	if s, ok := grpcStatus(err); ok && r.opts.Version.Has(sidecar.AttachErrorCode) {
		code := int32(s.Code())
		failure.ErrorCode = &code
	}
	r.saveError(p, va, func(s *storagev1.VolumeAttachmentStatus) { s.AttachError = failure })
	r.exitIfLost(p, err)
	return err
}

// saveError tries to write an error into the status, and ignores a failure of the write.
func (r *run) saveError(p *kernel.Process, va *storagev1.VolumeAttachment, set func(*storagev1.VolumeAttachmentStatus)) {
	_, _ = component.PatchStatus(p, r.Component, store.KeyOf(va), func(va *storagev1.VolumeAttachment) { set(&va.Status) })
}

// attach: C-ATT-12. Finalizers are written before the call, so that any effect of the call will be
// undone.
func (r *run) attach(p *kernel.Process, va *storagev1.VolumeAttachment) (map[string]string, error) {
	from, err := r.sourceOf(va)
	if err != nil {
		return nil, err
	}
	if from.pv != nil {
		if from.pv.DeletionTimestamp != nil {
			return nil, fmt.Errorf("PersistentVolume %q is marked for deletion", from.pv.Name)
		}
		if err := r.guardVolume(p, from.pv); err != nil {
			return nil, err
		}
	}
	request, err := r.publishRequest(p, va, from)
	if err != nil {
		return nil, err
	}
	if err := r.prepare(p, va, request.NodeId); err != nil {
		return nil, err
	}
	answer, err := csi.NewControllerClient(r.conn(p, r.opts.Timeout)).ControllerPublishVolume(context.Background(), request)
	if err != nil {
		return nil, err
	}
	return answer.GetPublishContext(), nil
}

// publishRequest: C-ATT-12 (6) to (8), C-ATT-14
func (r *run) publishRequest(p *kernel.Process, va *storagev1.VolumeAttachment, from source) (*csi.ControllerPublishVolumeRequest, error) {
	source, err := from.csi()
	if err != nil {
		return nil, err
	}
	capability, err := r.capability(from.spec, source.FSType)
	if err != nil {
		return nil, err
	}
	secrets, err := r.secrets(p, source.ControllerPublishSecretRef)
	if err != nil {
		return nil, err
	}
	nodeID, err := r.nodeID(p, va.Spec.NodeName, nil)
	if err != nil {
		return nil, err
	}
	return &csi.ControllerPublishVolumeRequest{
		VolumeId:         source.VolumeHandle,
		NodeId:           nodeID,
		VolumeCapability: capability,
		Readonly:         source.ReadOnly && r.features.readOnly,
		VolumeContext:    source.VolumeAttributes,
		Secrets:          secrets,
	}, nil
}

// prepare writes finalizer and node id in one patch. C-ATT-12 (9)
func (r *run) prepare(p *kernel.Process, va *storagev1.VolumeAttachment, nodeID string) error {
	if slices.Contains(va.Finalizers, r.features.finalizer) && va.Annotations[volume.NodeIDAnnotation] == nodeID {
		return nil
	}
	_, err := component.PatchMetadata(p, r.Component, store.KeyOf(va), func(va *storagev1.VolumeAttachment) {
		if !slices.Contains(va.Finalizers, r.features.finalizer) {
			va.Finalizers = append(va.Finalizers, r.features.finalizer)
		}
		metav1.SetMetaDataAnnotation(&va.ObjectMeta, volume.NodeIDAnnotation, nodeID)
	})
	if err != nil {
		return fmt.Errorf("could not save VolumeAttachment: %w", err)
	}
	return nil
}

// markAttached: C-ATT-15
func (r *run) markAttached(p *kernel.Process, key store.Key, metadata map[string]string) error {
	_, err := component.PatchStatus(p, r.Component, key, func(va *storagev1.VolumeAttachment) {
		va.Status = storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: metadata, DetachError: va.Status.DetachError}
	})
	return err
}

// exitIfLost ends the sidecar if an error means that the driver has exited. Its caller then
// returns. C-LIB-1, golden cc3
func (r *run) exitIfLost(p *kernel.Process, err error) {
	if sidecar.IsConnectionLoss(err) {
		r.ending = true
		r.life.Lost()
		p.Wait("the sidecar's end", func() bool { return false })
	}
}

// grpcStatus returns the status of an error if the error is a driver's answer.
func grpcStatus(err error) (*status.Status, bool) {
	var s interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &s) {
		return nil, false
	}
	return s.GRPCStatus(), true
}

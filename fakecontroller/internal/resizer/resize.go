package resizer

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// syncSize expands the volume of a claim that requests a larger size. C-RES-10
func (r *run) syncSize(p *kernel.Process, key store.Key) error {
	pvc, ok := r.claims.Get(key)
	if !ok || pvc.Spec.VolumeName == "" {
		return nil
	}
	pv, ok := r.volumes.Get(store.Key{Name: pvc.Spec.VolumeName})
	if !ok {
		return fmt.Errorf("PV %q bound to pvc %q not found", pvc.Spec.VolumeName, key)
	}
	if err := r.forgetFormerSize(p, pvc, pv); err != nil {
		return err
	}
	if !wantsMore(pvc) || !r.supports(pvc, pv) {
		return nil
	}
	return r.expand(p, key, pvc, pv)
}

// supports: C-RES-11
func (r *run) supports(pvc claim, pv persistentVolume) bool {
	ref := pv.Spec.ClaimRef
	_, migrated := migration.PluginOf(r.features.driver)
	ours := pv.Spec.CSI != nil && pv.Spec.CSI.Driver == r.features.driver ||
		migrated && pvc.Annotations[annResizer] == r.features.driver
	return ours && ref != nil && ref.Namespace == pvc.Namespace && ref.UID == pvc.UID
}

// expand does the next step of the claim's expansion.
func (r *run) expand(p *kernel.Process, key store.Key, pvc claim, pv persistentVolume) error {
	rest, resting := r.infeasible.rest(key, p.Elapsed())
	if r.opts.recovers() && resizeStatus(pvc) == corev1.PersistentVolumeClaimControllerResizeInfeasible {
		r.infeasible.add(key, p.Elapsed())
	}
	s := progressOf(pvc, pv, r.finalErrors[key], r.features.expand)
	if !r.opts.recovers() {
		s.allocated, s.status = nil, ""
	}
	size, ok := s.target()
	if !ok {
		return nil
	}
	repeated := s.allocated != nil && s.allocated.Cmp(size) == 0
	if repeated && resting { // C-RES-21
		return workqueue.Rest{Why: fmt.Sprintf("expansion of claim %s was infeasible a short while ago", key), For: rest}
	}
	pvc, err := r.markInProgress(p, pvc, size, repeated)
	if err != nil {
		return err
	}
	if r.inUse[pvc.UID] && r.isInUse(pvc) { // C-RES-16
		why := fmt.Sprintf("Unable to expand %s because CSI driver %s only supports offline expansion and volume is currently in-use", key, r.features.driver)
		r.event(pvc, corev1.EventTypeWarning, "VolumeResizeFailed", "%s", why)
		return errors.New(why)
	}
	r.event(pvc, corev1.EventTypeNormal, "Resizing", "External resizer is resizing volume %s", pv.Name)
	delete(r.inUse, pvc.UID)
	if err := r.expandVolume(p, key, pvc, pv, size); err != nil {
		r.event(pvc, corev1.EventTypeWarning, "VolumeResizeFailed", "%v", err)
		r.life.ExitIfLost(err)
		return err
	}
	return nil
}

// isInUse reports whether a pod that has not ended uses the claim, scheduled or not.
func (r *run) isInUse(pvc claim) bool {
	for pod := range store.Indexed[*corev1.Pod](r.Cache, kind.PodsByClaim, store.KeyOf(pvc).String()) {
		if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded && names(pod, pvc.Name) {
			return true
		}
	}
	return false
}

// names excludes the claims of ephemeral volumes.
func names(pod *corev1.Pod, claimName string) bool {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claimName {
			return true
		}
	}
	return false
}

// expandVolume makes the driver expand the volume and records the result.
func (r *run) expandVolume(p *kernel.Process, key store.Key, pvc claim, pv persistentVolume, size resource.Quantity) error {
	got, onNode, err := r.callDriver(p, pv, size)
	if err != nil {
		return r.failed(p, key, pvc, pv, err)
	}
	delete(r.finalErrors, key)
	r.infeasible.remove(key)
	if err := r.saveCapacity(p, pvc, pv, got, onNode); err != nil {
		return err
	}
	if onNode {
		return r.markForNode(p, pvc)
	}
	return r.markFinished(p, pvc, got)
}

// callDriver makes the calls of C-RES-18. It does not call a driver that expands only on nodes.
// C-RES-2
func (r *run) callDriver(p *kernel.Process, pv persistentVolume, size resource.Quantity) (got resource.Quantity, onNode bool, err error) {
	if r.features.nodeOnly {
		return size, true, nil
	}
	request, err := r.request(p, pv, size)
	if err != nil {
		return got, false, err
	}
	answer, err := csi.NewControllerClient(r.conn(p)).ControllerExpandVolume(context.Background(), request)
	if err != nil {
		return got, false, err
	}
	return *resource.NewQuantity(answer.GetCapacityBytes(), resource.BinarySI), answer.GetNodeExpansionRequired(), nil
}

func (r *run) request(p *kernel.Process, pv persistentVolume, size resource.Quantity) (*csi.ControllerExpandVolumeRequest, error) {
	pv, err := migration.PV(pv)
	if err != nil {
		return nil, err
	}
	source := pv.Spec.CSI
	if source.VolumeHandle == "" {
		return nil, errors.New("empty volume handle")
	}
	secrets, err := sidecar.ReadSecret(p, r.Component, source.ControllerExpandSecretRef)
	if err != nil {
		return nil, err
	}
	many, err := r.singleNodeMultiWriter(p)
	if err != nil {
		return nil, fmt.Errorf("failed to get capabilities of volume %s with %w", pv.Name, err)
	}
	mode, err := volume.ControllerAccessMode(pv.Spec.AccessModes, many)
	if err != nil {
		return nil, fmt.Errorf("failed to get capabilities of volume %s with %w", pv.Name, err)
	}
	return &csi.ControllerExpandVolumeRequest{
		VolumeId: source.VolumeHandle, Secrets: secrets,
		CapacityRange:    &csi.CapacityRange{RequiredBytes: size.Value()},
		VolumeCapability: volume.Capability(volume.IsBlock(pv.Spec.VolumeMode), source.FSType, pv.Spec.MountOptions, mode),
	}, nil
}

// failed records the kind of error, also in the claim. C-RES-20
func (r *run) failed(p *kernel.Process, key store.Key, pvc claim, pv persistentVolume, cause error) error {
	if code, ok := codeOf(cause); ok && code == codes.FailedPrecondition {
		r.inUse[pvc.UID] = true
	}
	if !isInfeasible(cause) {
		r.infeasible.remove(key)
	}
	switch {
	case !r.opts.recovers():
	case !isFinal(cause):
		delete(r.finalErrors, key)
	default:
		r.finalErrors[key] = true
		if err := r.markRefused(p, pvc, cause); err != nil {
			return fmt.Errorf("resizing failed in controller with %w but failed to update PVC %s with: %w", cause, key, err)
		}
	}
	return fmt.Errorf("resize volume %q by resizer %q failed: %w", pv.Name, r.features.driver, cause)
}

// saveCapacity: C-RES-22
func (r *run) saveCapacity(p *kernel.Process, pvc claim, pv persistentVolume, size resource.Quantity, onNode bool) error {
	err := r.patchVolume(p, pv, func(pv persistentVolume) {
		pv.Spec.Capacity[corev1.ResourceStorage] = size
		if _, has := pv.Annotations[annPreResizeCapacity]; r.opts.AnnotateFsResize && onNode && !has {
			metav1.SetMetaDataAnnotation(&pv.ObjectMeta, annPreResizeCapacity, pvc.Status.Capacity.Storage().String())
		}
	})
	if err != nil {
		return fmt.Errorf("error updating pv %q by resizer: %w", pv.Name, err)
	}
	return nil
}

// annPreResizeCapacity is a volume's size before its expansion. C-RES-3
const annPreResizeCapacity = "volume.alpha.kubernetes.io/pre-resize-capacity"

// forgetFormerSize: C-RES-10
func (r *run) forgetFormerSize(p *kernel.Process, pvc claim, pv persistentVolume) error {
	_, has := pv.Annotations[annPreResizeCapacity]
	if !has || pvc.Status.Capacity.Storage().Cmp(*pv.Spec.Capacity.Storage()) < 0 {
		return nil
	}
	err := r.patchVolume(p, pv, func(pv persistentVolume) {
		delete(pv.Annotations, annPreResizeCapacity)
	})
	if err != nil {
		return fmt.Errorf("failed removing annotation %s from pv %q: %w", annPreResizeCapacity, pv.Name, err)
	}
	return nil
}

// patchVolume patches a volume and stores the result in the cache. Otherwise a late cache would
// cause a second call.
func (r *run) patchVolume(p *kernel.Process, pv persistentVolume, change func(persistentVolume)) error {
	patched, err := component.Patch(p, r.Component, store.KeyOf(pv), change)
	if err != nil {
		return err
	}
	r.volumes.Put(patched)
	return nil
}

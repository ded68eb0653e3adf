package provisioner

import (
	"fmt"
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// Annotations of a PersistentVolume that name the secrets of the driver.
const (
	annDeletionSecretName      = "volume.kubernetes.io/provisioner-deletion-secret-name"
	annDeletionSecretNamespace = "volume.kubernetes.io/provisioner-deletion-secret-namespace"
	annModifySecretName        = "volume.kubernetes.io/controller-modify-secret-name"
	annModifySecretNamespace   = "volume.kubernetes.io/controller-modify-secret-namespace"
)

// persistentVolume describes the volume that the driver made. C-PROV-50
func (c *Provisioner) persistentVolume(pvc claim, class *storagev1.StorageClass, plan plan, made *csi.Volume) *corev1.PersistentVolume {
	bytes := made.GetCapacityBytes()
	if bytes == 0 {
		bytes = plan.request.GetCapacityRange().GetRequiredBytes()
	}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        plan.request.GetName(),
			Annotations: c.annotations(class, plan.secrets),
		},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   pvc.Spec.AccessModes,
			VolumeMode:                    pvc.Spec.VolumeMode,
			MountOptions:                  class.MountOptions,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(bytes, resource.BinarySI)},
			StorageClassName:              storagevolume.GetPersistentVolumeClaimClass(pvc),
			ClaimRef:                      claimRef(pvc),
			NodeAffinity:                  affinityOf(made.GetAccessibleTopology()),
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: c.csiSource(pvc, plan, made)},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		},
	}
	if c.options.honorsPolicy() {
		pv.Finalizers = []string{storagevolume.PVDeletionProtectionFinalizer}
	}
	if class.ReclaimPolicy != nil {
		pv.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	if plan.vac != "" {
		pv.Spec.VolumeAttributesClassName = &plan.vac
	}
	return pv
}

func (c *Provisioner) annotations(class *storagev1.StorageClass, secrets secretRefs) map[string]string {
	deletion := secretOrEmpty(secrets[provisionerSecret])
	annotations := map[string]string{
		storagevolume.AnnDynamicallyProvisioned: class.Provisioner,
		annDeletionSecretName:                   deletion.Name,
		annDeletionSecretNamespace:              deletion.Namespace,
	}
	if modify := secrets[controllerModifySecret]; modify != nil {
		annotations[annModifySecretName] = modify.Name
		annotations[annModifySecretNamespace] = modify.Namespace
	}
	return annotations
}

func secretOrEmpty(ref *corev1.SecretReference) corev1.SecretReference {
	if ref == nil {
		return corev1.SecretReference{}
	}
	return *ref
}

func (c *Provisioner) csiSource(pvc claim, plan plan, made *csi.Volume) *corev1.CSIPersistentVolumeSource {
	attributes := map[string]string{identityKey: c.identity}
	maps.Copy(attributes, made.GetVolumeContext()) // C-PROV-2
	source := &corev1.CSIPersistentVolumeSource{
		Driver:                     c.driver,
		VolumeHandle:               made.GetVolumeId(),
		VolumeAttributes:           attributes,
		ControllerPublishSecretRef: plan.secrets[controllerPublishSecret],
		NodeStageSecretRef:         plan.secrets[nodeStageSecret],
		NodePublishSecretRef:       plan.secrets[nodePublishSecret],
		ControllerExpandSecretRef:  plan.secrets[controllerExpandSecret],
		NodeExpandSecretRef:        plan.secrets[nodeExpandSecret],
	}
	if !volume.IsBlock(pvc.Spec.VolumeMode) {
		source.FSType = plan.fsType
	}
	modes := pvc.Spec.AccessModes
	source.ReadOnly = c.options.ControllerPublishReadOnly && len(modes) == 1 && modes[0] == corev1.ReadOnlyMany
	return source
}

func claimRef(pvc claim) *corev1.ObjectReference {
	return &corev1.ObjectReference{
		APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: pvc.Namespace, Name: pvc.Name,
		UID: pvc.UID, ResourceVersion: pvc.ResourceVersion,
	}
}

// unsavedVolume is a volume without its object in the API, and its claim.
type unsavedVolume struct {
	volume *corev1.PersistentVolume
	claim  claim
}

// keep saves a PersistentVolume. If the first write fails, it repeats the write in the background:
// a new volume is never deleted because its object is missing. C-PROV-4
func (c *Provisioner) keep(p *kernel.Process, pv *corev1.PersistentVolume, pvc claim) {
	c.toSave[pv.Name] = unsavedVolume{pv, pvc}
	if err := c.save(p, pv.Name); err != nil {
		c.unsaved.Add(pv.Name)
	}
}

func (c *Provisioner) save(p *kernel.Process, name string) error {
	u := c.toSave[name]
	if _, err := component.Create(p, c.Component, u.volume); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("save volume %s: %w", name, err)
	}
	delete(c.toSave, name)
	// The claim of the event is read from the store: a deleted claim gets no event. (trace aa9)
	if known, ok := store.Get[claim](c.Cache, store.KeyOf(u.claim)); ok && known.UID == u.claim.UID {
		c.event(known, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s", name)
	}
	return nil
}

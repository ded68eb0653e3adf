package realcluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/real/deploy"
)

// volumeTime limits the deletion of a run's remaining volumes by their driver.
const volumeTime = 20 * time.Second

// release deletes volumes while their drivers run, whatever the reclaim policy is. The drivers are
// deleted next, so a retained volume would be lost. Volumes that the drivers do not delete in time
// are deleted without them. It returns the names of such volumes.
func (c *Cluster) release(ctx context.Context, isOurs func(corev1.PersistentVolume) bool) (forced []string, err error) {
	list, err := c.clients.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(list.Items, func(pv corev1.PersistentVolume) bool { return !isOurs(pv) })
	for _, pv := range all {
		if err := c.letGo(ctx, pv); err != nil {
			return nil, err
		}
	}
	patient, cancel := context.WithTimeout(ctx, volumeTime)
	defer cancel()
	for _, pv := range all {
		if c.gone(patient, volumeNamed(pv.Name)) == nil {
			continue
		}
		if err := c.force(ctx, pv.Name); err != nil {
			return forced, err
		}
		forced = append(forced, pv.Name)
	}
	return forced, nil
}

func volumeNamed(name string) made {
	return made{resource: corev1.SchemeGroupVersion.WithResource("persistentvolumes"), namespace: "", name: name}
}

// letGo deletes a volume. If the driver has provisioned the volume, the driver deletes it;
// otherwise only the object is deleted.
func (c *Cluster) letGo(ctx context.Context, pv corev1.PersistentVolume) (err error) {
	switch {
	case pv.Annotations["pv.kubernetes.io/provisioned-by"] == "":
		err = c.delete(ctx, volumeNamed(pv.Name))
	case pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete:
		_, err = c.clients.CoreV1().PersistentVolumes().Patch(ctx, pv.Name, types.MergePatchType, []byte(`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`), metav1.PatchOptions{FieldManager: manager})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// force deletes a volume that its driver does not delete, and the volume's attachments that the
// driver does not detach.
func (c *Cluster) force(ctx context.Context, volume string) error {
	attachments, err := c.clients.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, va := range attachments.Items {
		if name := va.Spec.Source.PersistentVolumeName; name != nil && *name == volume {
			if err := c.forceOne(ctx, made{resource: storagev1.SchemeGroupVersion.WithResource("volumeattachments"), namespace: "", name: va.Name}); err != nil {
				return err
			}
		}
	}
	return c.forceOne(ctx, volumeNamed(volume))
}

func (c *Cluster) forceOne(ctx context.Context, m made) error {
	if err := c.delete(ctx, m); err != nil {
		return err
	}
	_, err := c.at(m.resource, m.namespace).Patch(ctx, m.name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{FieldManager: manager})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("take %s away without its driver: %w", m, err)
	}
	return c.gone(ctx, m)
}

// releaseVolumes deletes the claims of stateful sets, and the volumes of the run: the volumes of
// its claims, and those that its drivers have provisioned since it began.
func (c *Cluster) releaseVolumes(ctx context.Context) error {
	claims, err := c.clients.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, listManaged)
	if err != nil {
		return err
	}
	var ours []made
	for _, claim := range claims.Items {
		if s := c.options.Deploy.Scope; s == "" || s.Has(claim.Namespace) {
			ours = append(ours, made{resource: corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), namespace: claim.Namespace, name: claim.Name})
		}
	}
	if err := c.remove(ctx, ours); err != nil {
		return err
	}
	ours = append(ours, c.made...)
	c.forced, err = c.release(ctx, func(pv corev1.PersistentVolume) bool {
		isNew := !pv.CreationTimestamp.Time.Before(c.mirror.began.Truncate(time.Second))
		return isOfClaim(pv, ours) || isNew && pv.Spec.CSI != nil && c.driver(pv.Spec.CSI.Driver).Name == pv.Spec.CSI.Driver
	})
	return err
}

// Forced returns the volumes that Close deleted without their drivers.
func (c *Cluster) Forced() []string { return c.forced }

// isOfClaim reports whether a volume is, or was, bound to one of these claims.
func isOfClaim(pv corev1.PersistentVolume, all []made) bool {
	claim := pv.Spec.ClaimRef
	return claim != nil && slices.ContainsFunc(all, func(m made) bool {
		return m.resource.Resource == "persistentvolumeclaims" && m.namespace == claim.Namespace && m.name == claim.Name
	})
}

// volumesGone deletes the volumes of csisim's claims and of csisim's drivers, and returns those
// that it deleted without their drivers.
func (c *Cluster) volumesGone(ctx context.Context, all []made) (forced []string, err error) {
	drivers, err := c.clients.StorageV1().CSIDrivers().List(ctx, listManaged)
	if err != nil {
		return nil, err
	}
	return c.release(ctx, func(pv corev1.PersistentVolume) bool {
		return isOfClaim(pv, all) || pv.Spec.CSI != nil && slices.ContainsFunc(drivers.Items, func(d storagev1.CSIDriver) bool {
			return d.Name == pv.Spec.CSI.Driver && !pv.CreationTimestamp.Before(&d.CreationTimestamp)
		})
	})
}

// labelClaims adds csisim's label to the claim templates of a stateful set. The driver's own pods
// keep their claims until the end.
func labelClaims(fields map[string]any) {
	spec, _ := fields["spec"].(map[string]any)
	templates, _ := spec["volumeClaimTemplates"].([]any)
	for _, template := range templates {
		claim, ok := template.(map[string]any)
		if !ok {
			continue
		}
		metadata, _ := claim["metadata"].(map[string]any)
		if metadata == nil {
			metadata = map[string]any{}
			claim["metadata"] = metadata
		}
		labels, _ := metadata["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			metadata["labels"] = labels
		}
		labels[deploy.ManagedBy] = deploy.By
	}
}

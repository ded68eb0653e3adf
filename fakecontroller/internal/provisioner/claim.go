package provisioner

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

type claim = *corev1.PersistentVolumeClaim

// errStop ends the work on a claim without a retry.
var errStop = errors.New("nothing more to provision for this claim")

// asked reports whether this driver has to provision a claim. It reads only the claim. C-PROV-10
func (c *Provisioner) asked(pvc claim) bool {
	if pvc.Spec.VolumeName != "" {
		return false
	}
	if pvc.Annotations[storagevolume.AnnMigratedTo] == c.driver {
		return true
	}
	name, ok := pvc.Annotations[storagevolume.AnnStorageProvisioner]
	if !ok {
		name = pvc.Annotations[storagevolume.AnnBetaStorageProvisioner]
	}
	return name == c.driver || name == c.plugin && name != ""
}

// syncClaim provisions a volume if the claim needs one. It remembers the volumes that the driver
// may still be working on. C-PROV-13, C-PROV-62
func (c *Provisioner) syncClaim(p *kernel.Process, uid types.UID) error {
	pvc := c.claimByUID(uid)
	if pvc == nil {
		return nil
	}
	class, err := c.classOf(pvc)
	if err != nil {
		return err
	}
	if waitsForNode(pvc, class) {
		return nil
	}
	if owned, err := c.owns(p, pvc, class); err == nil && !owned {
		return nil
	}
	state, err := c.provisionClaim(p, pvc, class)
	switch {
	case err == nil || state == finished:
		delete(c.inProgress, uid)
	case state == inBackground:
		c.inProgress[uid] = pvc
	}
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// claimByUID returns the claim from the informer. If the last attempt had no final result, it
// returns the claim of that attempt.
func (c *Provisioner) claimByUID(uid types.UID) claim {
	if pvc, ok := c.known[uid]; ok {
		return pvc
	}
	return c.inProgress[uid]
}

func (c *Provisioner) classOf(pvc claim) (*storagev1.StorageClass, error) {
	name := storagevolume.GetPersistentVolumeClaimClass(pvc)
	class, ok := component.Cached[*storagev1.StorageClass](c.Component, store.Key{Name: name})
	if !ok {
		return nil, fmt.Errorf("class of claim %s: %w", store.KeyOf(pvc), store.NotFound[*storagev1.StorageClass](store.Key{Name: name}))
	}
	return class, nil
}

// waitsForNode reports whether the scheduler has yet to choose a node. C-PROV-10
func waitsForNode(pvc claim, class *storagev1.StorageClass) bool {
	delayed := class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	return delayed && pvc.Annotations[storagevolume.AnnSelectedNode] == ""
}

// provisionClaim attempts to provision a claim once. C-PROV-11, C-PROV-12
func (c *Provisioner) provisionClaim(p *kernel.Process, pvc claim, class *storagev1.StorageClass) (state, error) {
	name := volumeName(pvc)
	if _, exists := component.Cached[*corev1.PersistentVolume](c.Component, store.Key{Name: name}); exists {
		return finished, errStop
	}
	if class.Provisioner != c.driver && class.Provisioner != c.plugin {
		return finished, errStop
	}
	if c.infeasible.contains(pvc.UID, class.UID, p.Elapsed()) {
		return noChange, fmt.Errorf("claim %s was infeasible a short while ago", store.KeyOf(pvc))
	}
	c.event(pvc, corev1.EventTypeNormal, "Provisioning", "External provisioner is provisioning volume for claim %q", store.KeyOf(pvc))
	pv, result := c.createVolume(p, pvc, class)
	if errors.Is(result.err, errStop) {
		return result.state, errStop
	}
	if result.err != nil {
		if result.state != noChange {
			c.capacities.refresh(func(o offer) bool { return o.class == class.Name })
		}
		return c.failed(p, pvc, class, result)
	}
	c.keep(p, pv, pvc)
	c.capacities.refreshFor(pv)
	return finished, nil
}

// failed reports a failed attempt. If another node may help, it makes the scheduler choose one.
// C-PROV-15, C-PROV-61
func (c *Provisioner) failed(p *kernel.Process, pvc claim, class *storagev1.StorageClass, r result) (state, error) {
	message := r.err.Error()
	if r.infeasible && c.options.Version.Has(sidecar.InfeasibleClaims) {
		message = "Volume provisioning failed with infeasible error. Retries will be delayed. " + message
		c.infeasible.add(pvc.UID, class.UID, p.Elapsed())
	}
	c.event(pvc, corev1.EventTypeWarning, "ProvisioningFailed", "%s", message)
	if r.state != reschedule {
		return r.state, r.err
	}
	if pvc.Annotations[storagevolume.AnnSelectedNode] == "" {
		return finished, r.err
	}
	changed := pvc.DeepCopy()
	delete(changed.Annotations, storagevolume.AnnSelectedNode)
	if _, err := component.Update(p, c.Component, changed); err != nil {
		return finished, fmt.Errorf("have claim %s rescheduled: %w", store.KeyOf(pvc), err)
	}
	return finished, errStop
}

// volumeName returns the name of volume and PersistentVolume. C-PROV-22
func volumeName(pvc claim) string { return "pvc-" + strings.ToLower(string(pvc.UID)) }

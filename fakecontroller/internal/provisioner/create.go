package provisioner

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
)

// cleanupTries bounds the attempts to delete a volume that does not fit the request.
const cleanupTries = 5

// createVolume makes the driver create the volume of a claim, and returns the volume as a
// PersistentVolume.
func (c *Provisioner) createVolume(p *kernel.Process, pvc claim, class *storagev1.StorageClass) (*corev1.PersistentVolume, result) {
	switch owned, err := c.owns(p, pvc, class); {
	case err != nil:
		return nil, result{state: noChange, err: fmt.Errorf("node check failed: %w", err)}
	case !owned:
		return nil, result{state: finished, err: errStop}
	}
	translated, err := migration.Class(class)
	if err != nil {
		return nil, result{state: finished, err: err}
	}
	plan, failure := c.prepare(p, pvc, translated)
	if failure.err != nil {
		return nil, failure
	}
	answer, err := csi.NewControllerClient(c.conn(p)).CreateVolume(context.Background(), plan.request)
	if err != nil {
		r := resultOf(err, c.promises.Serves("VOLUME_ACCESSIBILITY_CONSTRAINTS") && plan.node != "")
		c.forgetTopology(pvc, r)
		return nil, r
	}
	volume := answer.GetVolume()
	if got, want := volume.GetCapacityBytes(), plan.request.GetCapacityRange().GetRequiredBytes(); got != 0 && got < want {
		return nil, c.refuse(p, plan, volume, fmt.Errorf("created volume capacity %d less than requested capacity %d", got, want))
	}
	if plan.request.GetVolumeContentSource() != nil && volume.GetContentSource() == nil {
		return nil, c.refuse(p, plan, volume, errors.New("volume content source missing"))
	}
	c.forgetTopology(pvc, result{state: finished})
	c.releaseSnapshot(p, pvc)
	pv := c.persistentVolume(pvc, class, plan, volume)
	if class != translated { // C-PROV-50: the PersistentVolume has an in-tree source
		if pv, err = migration.InTree(pv); err != nil {
			return nil, result{state: finished, err: err}
		}
	}
	return pv, result{}
}

// forgetTopology lets the next attempt choose a new topology, because the driver is not working on
// the last one. C-PROV-34
func (c *Provisioner) forgetTopology(pvc claim, r result) {
	if r.state == finished || r.state == reschedule {
		delete(c.topologies, pvc.UID)
	}
}

// refuse deletes a volume that does not fit the request. The next attempt for the claim creates it
// again. C-PROV-45
func (c *Provisioner) refuse(p *kernel.Process, plan plan, volume *csi.Volume, why error) result {
	request := &csi.DeleteVolumeRequest{VolumeId: volume.GetVolumeId(), Secrets: plan.request.GetSecrets()}
	var err error
	for range cleanupTries {
		if _, err = csi.NewControllerClient(c.conn(p)).DeleteVolume(context.Background(), request); err == nil {
			return result{state: inBackground, err: why}
		}
	}
	return result{state: inBackground, err: fmt.Errorf("%w. Cleanup of volume %s failed, volume is orphaned: %w", why, plan.request.GetName(), err)}
}

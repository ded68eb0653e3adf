package attacher

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
)

// reconcile compares attachments with the driver's list at intervals. C-ATT-40
func (r *run) reconcile(p *kernel.Process) {
	for {
		r.reconcileOnce(p)
		p.Idle(r.opts.ReconcileSync)
	}
}

// reconcileOnce queues every attachment with a status that differs from the driver's list. The list
// of attachments is older than the driver's. C-ATT-41
func (r *run) reconcileOnce(p *kernel.Process) {
	known := slices.Collect(store.Indexed[*storagev1.VolumeAttachment](r.Cache, kind.AttachmentsByAttacher, r.features.driver))
	published, err := r.listPublished(p)
	if err != nil {
		r.exitIfLost(p, err)
		return
	}
	for _, va := range known {
		handle, nodeID, err := r.identity(p, va)
		if err != nil {
			continue
		}
		if va.Status.Attached != published[handle][nodeID] {
			r.force[store.KeyOf(va)] = true
			r.attachments.Add(store.KeyOf(va))
		}
	}
}

func (r *run) identity(p *kernel.Process, va *storagev1.VolumeAttachment) (handle, nodeID string, err error) {
	from, err := r.sourceOf(va)
	if err != nil {
		return "", "", err
	}
	source, err := from.csi()
	if err != nil {
		return "", "", err
	}
	if nodeID, err = r.nodeID(p, va.Spec.NodeName, va); err != nil {
		return "", "", err
	}
	handle, err = migration.RepairHandle(r.features.driver, source.VolumeHandle, nodeID) // C-MIG-14
	return handle, nodeID, err
}

// listPublished pages through ListVolumes, all pages under one timeout.
func (r *run) listPublished(p *kernel.Process) (map[string]map[string]bool, error) {
	published := map[string]map[string]bool{}
	request := &csi.ListVolumesRequest{MaxEntries: int32(r.opts.MaxEntries)}
	deadline := p.Elapsed() + r.opts.Timeout
	for {
		answer, err := csi.NewControllerClient(r.connUntil(p, deadline)).ListVolumes(context.Background(), request)
		if err != nil {
			return nil, err
		}
		for _, entry := range answer.GetEntries() {
			if entry.GetStatus() == nil {
				continue
			}
			nodes := map[string]bool{}
			for _, id := range entry.GetStatus().GetPublishedNodeIds() {
				nodes[id] = true
			}
			published[entry.GetVolume().GetVolumeId()] = nodes
		}
		if answer.GetNextToken() == "" {
			return published, nil
		}
		request = &csi.ListVolumesRequest{MaxEntries: int32(r.opts.MaxEntries), StartingToken: answer.GetNextToken()}
	}
}

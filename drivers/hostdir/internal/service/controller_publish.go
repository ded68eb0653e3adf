//go:build linux

package service

import (
	"context"
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
)

// contextPath is the publish_context key for the volume's path in the backend.
const contextPath = "path"

func (c *controller) ControllerPublishVolume(_ context.Context, req *csi.ControllerPublishVolumeRequest) (*csi.ControllerPublishVolumeResponse, error) {
	if !c.cfg.Attach {
		return nil, unimplemented("--no-attach")
	}
	if err := require("volume_id", req.GetVolumeId(), "node_id", req.GetNodeId()); err != nil {
		return nil, err
	}
	a, err := readAccess(req.GetVolumeCapability())
	if err != nil {
		return nil, err
	}
	v, err := c.store.Volume(req.GetVolumeId())
	if err != nil {
		return nil, answer(err)
	}
	if !a.suits(v) {
		return nil, invalid("volume %s cannot be used as the capability says", v.ID)
	}
	exclusive := a.singleNode() && !c.cfg.Broken.Has(broken.AttachToManyNodes)
	attachment := backend.Attachment{ReadOnly: req.GetReadonly(), Mode: a.mode.String()}
	if v, err = c.store.Attach(v.ID, req.GetNodeId(), attachment, exclusive); err != nil {
		return nil, answer(err)
	}
	shown := map[string]string{contextPath: c.store.DataPath(v)}
	if c.cfg.Broken.Has(broken.SecretInPublishContext) {
		shown = broken.ShowSecrets(shown, req.GetSecrets())
	}
	return &csi.ControllerPublishVolumeResponse{PublishContext: shown}, nil
}

func (c *controller) ControllerUnpublishVolume(_ context.Context, req *csi.ControllerUnpublishVolumeRequest) (*csi.ControllerUnpublishVolumeResponse, error) {
	if !c.cfg.Attach {
		return nil, unimplemented("--no-attach")
	}
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	v, err := c.store.Volume(req.GetVolumeId())
	if errors.Is(err, backend.ErrNotFound) { // a deleted volume is not attached
		return &csi.ControllerUnpublishVolumeResponse{}, nil
	}
	if err != nil {
		return nil, answer(err)
	}
	if _, attached := v.Attachments[req.GetNodeId()]; !attached && c.cfg.Broken.Has(broken.DetachNotFound) {
		return nil, status.Errorf(codes.NotFound, "volume %s is not attached to node %s", v.ID, req.GetNodeId())
	}
	if _, attached := v.Attachments[req.GetNodeId()]; !attached && len(v.Attachments) > 0 && c.cfg.Broken.Has(broken.DetachRefusesElsewhere) {
		return nil, precondition("volume %s is attached to %v", v.ID, v.AttachedNodes())
	}
	if c.cfg.Broken.Has(broken.DetachLeaves) {
		return &csi.ControllerUnpublishVolumeResponse{}, nil
	}
	nodes := []string{req.GetNodeId()}
	if c.cfg.Broken.Has(broken.DetachFromAll) {
		nodes = v.AttachedNodes()
	}
	for _, id := range nodes {
		if err := c.store.Detach(v.ID, id); err != nil {
			return nil, answer(err)
		}
	}
	if c.cfg.Broken.Has(broken.DetachLosesData) {
		if err := c.store.Wipe(v); err != nil {
			return nil, answer(err)
		}
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}

//go:build linux

package service

import (
	"context"
	"errors"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
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
		return nil, Answer(err)
	}
	if !a.suits(v) {
		return nil, invalid("volume %s cannot be used as the capability says", v.ID)
	}
	attachment := backend.Attachment{ReadOnly: req.GetReadonly(), Mode: a.mode.String()}
	if v, err = c.store.Attach(v.ID, req.GetNodeId(), attachment, a.singleNode()); err != nil {
		return nil, Answer(err)
	}
	return &csi.ControllerPublishVolumeResponse{PublishContext: map[string]string{contextPath: c.store.DataPath(v)}}, nil
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
		return nil, Answer(err)
	}
	if err := c.store.Detach(v.ID, req.GetNodeId()); err != nil {
		return nil, Answer(err)
	}
	return &csi.ControllerUnpublishVolumeResponse{}, nil
}

package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

func (v *volume) health() *csi.VolumeHealth {
	h := &csi.VolumeHealth{VolumeId: v.id}
	if v.adverse != nil {
		h.HealthStatuses = []*csi.VolumeHealth_VolumeHealthEntry{{
			Status:  csi.VolumeHealthErrorType_DEGRADED,
			Reason:  or(v.adverse.Reason, "Abnormal"),
			Message: v.adverse.Message,
		}}
	}
	return h
}

func (d *Driver) volumeHealth(rpc, volumeID string) (*csi.VolumeHealth, error) {
	if !d.options.VolumeHealth {
		return nil, notImplemented(rpc)
	}
	if err := required("volume_id", volumeID); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[volumeID]
	if v == nil {
		return nil, noVolume(volumeID)
	}
	return v.health(), nil
}

// ControllerGetVolumeHealth: CSI "ControllerGetVolumeHealth".
func (s *Controller) ControllerGetVolumeHealth(_ context.Context, req *csi.ControllerGetVolumeHealthRequest) (*csi.ControllerGetVolumeHealthResponse, error) {
	h, err := s.driver.volumeHealth("ControllerGetVolumeHealth", req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &csi.ControllerGetVolumeHealthResponse{VolumeHealth: h}, nil
}

// ControllerListVolumeHealth: CSI "ControllerListVolumeHealth", only unhealthy volumes.
func (s *Controller) ControllerListVolumeHealth(_ context.Context, req *csi.ControllerListVolumeHealthRequest) (*csi.ControllerListVolumeHealthResponse, error) {
	d := s.driver
	if !d.options.VolumeHealth {
		return nil, notImplemented("ControllerListVolumeHealth")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var ill []*volume
	for _, v := range d.volumesInOrder() {
		if v.adverse != nil {
			ill = append(ill, v)
		}
	}
	volumes, next, err := page(ill, func(v *volume) int { return v.serial }, d.volumeSerial, req.GetMaxEntries(), req.GetStartingToken())
	if err != nil {
		return nil, err
	}
	resp := &csi.ControllerListVolumeHealthResponse{NextToken: next}
	for _, v := range volumes {
		resp.Entries = append(resp.Entries, v.health())
	}
	return resp, nil
}

// NodeGetVolumeHealth: CSI "NodeGetVolumeHealth".
func (n *Node) NodeGetVolumeHealth(_ context.Context, req *csi.NodeGetVolumeHealthRequest) (*csi.NodeGetVolumeHealthResponse, error) {
	h, err := n.driver.volumeHealth("NodeGetVolumeHealth", req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &csi.NodeGetVolumeHealthResponse{VolumeHealth: h}, nil
}

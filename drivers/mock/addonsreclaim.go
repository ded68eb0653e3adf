package mock

import (
	"context"

	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
)

// AddonsReclaim serves the reclaiming of space.
type AddonsReclaim struct {
	reclaimspace.UnimplementedReclaimSpaceControllerServer
	reclaimspace.UnimplementedReclaimSpaceNodeServer
	*AddonsIdentity
}

// ControllerReclaimSpace frees unused space of a volume.
func (s AddonsReclaim) ControllerReclaimSpace(_ context.Context, r *reclaimspace.ControllerReclaimSpaceRequest) (*reclaimspace.ControllerReclaimSpaceResponse, error) {
	return serveVolume(s.AddonsIdentity, "ControllerReclaimSpace", "reclaim_space.OFFLINE", r.GetVolumeId(), func(v *volume) (*reclaimspace.ControllerReclaimSpaceResponse, error) {
		before, after := s.driver.reclaim(v, s.driver.options.CSIAddons.ControllerUsage)
		return &reclaimspace.ControllerReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
	})
}

// NodeReclaimSpace frees unused space of a volume in use.
func (s AddonsReclaim) NodeReclaimSpace(_ context.Context, r *reclaimspace.NodeReclaimSpaceRequest) (*reclaimspace.NodeReclaimSpaceResponse, error) {
	return serveVolume(s.AddonsIdentity, "NodeReclaimSpace", "reclaim_space.ONLINE", r.GetVolumeId(), func(v *volume) (*reclaimspace.NodeReclaimSpaceResponse, error) {
		before, after := s.driver.reclaim(v, s.driver.options.CSIAddons.NodeUsage)
		return &reclaimspace.NodeReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
	})
}

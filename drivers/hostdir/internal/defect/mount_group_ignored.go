//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var mountGroupIgnored = &Defect{
	Name: "mount-group-ignored",
	Does: "VOLUME_MOUNT_GROUP is offered, and NodePublishVolume ignores volume_mount_group",
	Call: after(func(d *service.Driver, _ *csi.NodeGetCapabilitiesRequest, answer *csi.NodeGetCapabilitiesResponse) error {
		offered := &csi.NodeServiceCapability_RPC{Type: csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP}
		if !d.Config.MountGroup {
			answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: offered}})
		}
		return nil
	}),
}

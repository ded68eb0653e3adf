//go:build linux

package defect

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// newFlag is a mount option that the new release adds to all volumes.
const newFlag = "noatime"

var upgradeChangesFlags = &Defect{
	Name: "upgrade-changes-flags",
	Does: "this release mounts with noatime, and refuses volumes that the old release has mounted without",
	Call: func(_ *service.Driver, ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		switch r := req.(type) {
		case *csi.NodeStageVolumeRequest:
			r = proto.CloneOf(r)
			addFlag(r.GetVolumeCapability())
			return handle(ctx, r)
		case *csi.NodePublishVolumeRequest:
			r = proto.CloneOf(r)
			addFlag(r.GetVolumeCapability())
			return handle(ctx, r)
		}
		return handle(ctx, req)
	},
}

func addFlag(c *csi.VolumeCapability) {
	if m := c.GetMount(); m != nil && !slices.Contains(m.MountFlags, newFlag) {
		m.MountFlags = append(m.MountFlags, newFlag)
	}
}

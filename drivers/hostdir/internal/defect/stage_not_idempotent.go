//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stageNotIdempotent = &Defect{
	Name: "stage-not-idempotent",
	Does: "NodeStageVolume fails when the volume is staged already",
	Call: before(func(d *service.Driver, req *csi.NodeStageVolumeRequest) error {
		if mounted(req.GetStagingTargetPath()) {
			return status.Errorf(codes.Internal, "volume %s is staged at %s already", req.GetVolumeId(), req.GetStagingTargetPath())
		}
		if devices, err := d.Devices.Find(d.Label(req.GetVolumeId())); err != nil || len(devices) > 0 {
			return status.Errorf(codes.Internal, "volume %s has a loop device already", req.GetVolumeId())
		}
		return nil
	}),
}

//go:build linux

package defect

import (
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var secretInVolumeContext = &Defect{
	Name: "secret-in-volume-context",
	Does: "CreateVolume returns the secrets of its request in volume_context",
	Call: after(func(_ *service.Driver, req *csi.CreateVolumeRequest, answer *csi.CreateVolumeResponse) error {
		maps.Copy(answer.GetVolume().VolumeContext, req.GetSecrets())
		return nil
	}),
}

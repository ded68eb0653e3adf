//go:build linux

package defect

import (
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var secretInPublishContext = &Defect{
	Name: "secret-in-publish-context",
	Does: "ControllerPublishVolume returns the secrets of its request in publish_context",
	Call: after(func(_ *service.Driver, req *csi.ControllerPublishVolumeRequest, answer *csi.ControllerPublishVolumeResponse) error {
		maps.Copy(answer.PublishContext, req.GetSecrets())
		return nil
	}),
}

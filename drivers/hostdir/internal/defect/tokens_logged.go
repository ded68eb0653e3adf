//go:build linux

package defect

import (
	"log"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var tokensLogged = &Defect{
	Name: "tokens-logged",
	Does: "the log has the volume_context of NodePublishVolume, with its service account tokens",
	Call: before(func(_ *service.Driver, req *csi.NodePublishVolumeRequest) error {
		log.Printf("%s: volume context %v", csi.Node_NodePublishVolume_FullMethodName, req.GetVolumeContext())
		return nil
	}),
}

//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishRemovesParent = &Defect{
	Name: "unpublish-removes-parent",
	Does: "NodeUnpublishVolume removes the directory of the target, which is the kubelet's",
	Call: after(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, _ *csi.NodeUnpublishVolumeResponse) error {
		return os.RemoveAll(filepath.Dir(req.GetTargetPath()))
	}),
}

//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishComparesPaths = &Defect{
	Name: "unpublish-compares-paths",
	Does: "NodeUnpublishVolume looks for its target in the mount table without resolving symlinks, and succeeds if it is not there",
	Call: on(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest, next next) (any, error) {
		table, err := mount.Read()
		if err != nil {
			return nil, err
		}
		if _, is := table.At(req.GetTargetPath()); !is {
			return &csi.NodeUnpublishVolumeResponse{}, nil
		}
		return next(req)
	}),
}

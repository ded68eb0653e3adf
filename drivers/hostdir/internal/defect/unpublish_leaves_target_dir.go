//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var unpublishLeavesTargetDir = &Defect{
	Name: "unpublish-leaves-target-dir",
	Does: "NodeUnpublishVolume leaves the target with a file in it",
	Call: on(func(d *service.Driver, req *csi.NodeUnpublishVolumeRequest, _ next) (any, error) {
		_, err := d.Displace(req.GetTargetPath())
		if err == nil {
			err = leaveTarget(req.GetTargetPath())
		}
		return &csi.NodeUnpublishVolumeResponse{}, service.Answer(err)
	}),
}

// leaveTarget puts a file into the remaining target directory.
func leaveTarget(target string) error {
	info, err := os.Stat(target)
	if err != nil || !info.IsDir() {
		return nil
	}
	return os.WriteFile(filepath.Join(target, "content"), []byte("left behind\n"), 0o644)
}

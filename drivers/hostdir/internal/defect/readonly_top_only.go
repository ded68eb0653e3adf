//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var readonlyTopOnly = &Defect{
	Name: "readonly-top-only",
	Does: "NodePublishVolume mounts a part of the volume, shared, below the target as well, writable when asked for read-only",
	Wrap: onPublish(func(_ *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error {
		if flags&mount.ReadOnly == 0 {
			return next.Publish(v, source, target, flags)
		}
		return bindBelow(source, target, flags)
	}),
	Call: before(func(_ *service.Driver, req *csi.NodeUnpublishVolumeRequest) error {
		_, err := mount.Unmount(filepath.Join(req.GetTargetPath(), below))
		return err
	}),
}

const below = "shared"

// bindBelow bind-mounts source at target, and a directory of it below the target. The second mount
// is writable with any flags.
func bindBelow(source, target string, flags mount.Flags) error {
	dir := filepath.Join(source, below)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := mount.BindRestricted(source, target, flags); err != nil {
		return err
	}
	return mount.Bind(dir, filepath.Join(target, below))
}

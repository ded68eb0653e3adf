//go:build linux

package defect

import (
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var publishUnmountsOthers = &Defect{
	Name: "publish-unmounts-others",
	Does: "NodePublishVolume unmounts mounts of others below the kubelet's directory",
	Call: after(func(d *service.Driver, req *csi.NodePublishVolumeRequest, _ *csi.NodePublishVolumeResponse) error {
		return unmountOthers(req.GetTargetPath(), d.Records.Has)
	}),
}

// unmountOthers unmounts all mounts below the kubelet's directory of the target, except the
// driver's own.
func unmountOthers(target string, isOwn func(path string) bool) error {
	resolved, err := mount.Resolve(target)
	if err != nil {
		return err
	}
	kubelet, _, _ := strings.Cut(resolved, "/pods/")
	table, err := mount.Read()
	if err != nil {
		return err
	}
	for _, point := range slices.Backward(table) {
		if strings.HasPrefix(point.Path, kubelet+"/") && !isOwn(point.Path) {
			if err := unix.Unmount(point.Path, unix.MNT_DETACH); err != nil {
				return err
			}
		}
	}
	return nil
}

//go:build linux

package defect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var statsOfRoot = &Defect{
	Name: "stats-of-root",
	Does: "NodeGetVolumeStats reports the file system of the root directory",
	Call: after(func(_ *service.Driver, _ *csi.NodeGetVolumeStatsRequest, answer *csi.NodeGetVolumeStatsResponse) error {
		var fs unix.Statfs_t
		err := unix.Statfs("/", &fs)
		answer.Usage[0].Total = int64(fs.Blocks) * fs.Bsize
		return err
	}),
}

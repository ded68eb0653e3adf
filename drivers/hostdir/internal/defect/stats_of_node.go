//go:build linux

package defect

import (
	"os"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var statsOfNode = &Defect{
	Name: "stats-of-node",
	Does: "NodeGetVolumeStats reports the file system in which the device node of a block volume lies",
	Call: after(func(_ *service.Driver, req *csi.NodeGetVolumeStatsRequest, answer *csi.NodeGetVolumeStatsResponse) error {
		info, err := os.Stat(req.GetVolumePath())
		if err != nil || info.IsDir() {
			return nil
		}
		var fs unix.Statfs_t
		err = unix.Statfs(req.GetVolumePath(), &fs)
		answer.Usage[0].Total = int64(fs.Blocks) * fs.Bsize
		return err
	}),
}

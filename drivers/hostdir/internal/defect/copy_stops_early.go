//go:build linux

package defect

import (
	"io/fs"
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// copied is the part of each file that copy-stops-early copies, in bytes.
const copied = 64 << 10

var copyStopsEarly = &Defect{
	Name: "copy-stops-early",
	Does: "a volume made from another one, or from a snapshot, has the first 64 KiB of each file, or of the block volume",
	Wrap: func(d *service.Driver) {
		onCopied(func(path string, info fs.FileInfo) error {
			if info.Mode().IsRegular() && info.Size() > copied {
				return os.Truncate(path, copied)
			}
			return nil
		})(d)
		onCreate(func(_ *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
			v, err := next.CreateVolume(spec)
			if err != nil || spec.Source == (backend.Source{}) || !spec.Block {
				return v, err
			}
			if err := os.Truncate(next.DataPath(v), copied); err != nil {
				return v, err
			}
			return v, os.Truncate(next.DataPath(v), v.CapacityBytes)
		})(d)
	},
}

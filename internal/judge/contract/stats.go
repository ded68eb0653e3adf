package contract

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Sizes holds the known sizes of a volume at the place of the measurement, in bytes.
type Sizes struct {
	// Least is its minimum size, according to the answers to earlier calls; 0 if unknown.
	Least int64
	// Before is its size before it grew; 0 if it has not grown.
	Before int64
	// Source is the size of the source volume if this volume is a larger copy of it; otherwise 0.
	Source int64
	// Device is the size of its block device; 0 for a file system. Asked is the largest requested
	// size, which the volume's storage may have reached even if the file system has not.
	Device, Asked int64
	// FileSystem is the size of the mounted file system; 0 if unknown. Others are the sizes of the
	// file systems around its mount.
	FileSystem int64
	Others     []int64
}

// roundedUp is the largest factor by which a driver may round up a requested size.
const roundedUp = 2

const totalOfVolume = `the CSI spec wants "the total capacity of the volume"`

// CheckStats checks the volume size that a node reports against the known sizes. The size of a file
// system is little evidence, because it may be any directory of a larger one. But if it is exactly
// the size before the volume grew, the driver has stored the old size.
func CheckStats(method string, answer *csi.NodeGetVolumeStatsResponse, known Sizes) []verdict.Verdict {
	f := findings{method: method, of: answer}
	for _, u := range answer.GetUsage() {
		if u.GetUnit() != csi.VolumeUsage_BYTES {
			continue
		}
		switch total := u.GetTotal(); {
		case known.Device > 0 && (total < max(1, min(known.Least, known.Device)) || total > roundedUp*max(known.Device, known.Asked)):
			f.add("usage.total", totalOfVolume, "is %d of a block device of %d bytes", total, known.Device)
		case known.isElsewhere(total):
			f.add("usage.total", totalOfVolume, "is %d, as of a file system around the mounted one of %d bytes", total, known.FileSystem)
		case known.Source > 0 && total == known.Source && known.Least > known.Source:
			f.add("usage.total", totalOfVolume, "is %d, as of the volume that it is a copy of, but it has %d bytes", total, known.Least)
		case known.Before > 0 && total == known.Before && known.Least > known.Before:
			f.add("usage.total", totalOfVolume, "is %d still, as before the volume grew to %d bytes", total, known.Least)
		}
	}
	return f.list
}

// isElsewhere reports whether a total is the size of a file system around the mounted one, but
// neither the size of the mounted file system nor the size of the volume.
func (s Sizes) isElsewhere(total int64) bool {
	isVolume := total >= s.Least && total <= roundedUp*max(s.Least, s.Asked)
	return s.FileSystem > 0 && total != s.FileSystem && !isVolume && slices.Contains(s.Others, total)
}

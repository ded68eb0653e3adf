package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Sizes are what is known of the size of a volume where it is measured, in bytes.
type Sizes struct {
	// Least is what it has at least, by the answers to earlier calls; 0 if that is not known.
	Least int64
	// Before is what it had before it grew; 0 if it has not grown.
	Before int64
	// Device is that of its block device; 0 of a file system. Asked is the most that it was asked to grow to, which may have come about for
	// its storage only.
	Device, Asked int64
}

// roundedUp is how many times as large as it was asked to be a volume is at most that a driver has rounded up.
const roundedUp = 2

const totalOfVolume = `the CSI spec wants "the total capacity of the volume"`

// CheckStats holds what a node says of the size of a volume against what is known of it. The size of a file system says little: it may
// be any directory of a larger one. That it is the same as before the volume grew, to the byte, says that the driver remembers it.
func CheckStats(method string, answer *csi.NodeGetVolumeStatsResponse, known Sizes) []verdict.Verdict {
	f := findings{method: method, of: answer}
	for _, u := range answer.GetUsage() {
		if u.GetUnit() != csi.VolumeUsage_BYTES {
			continue
		}
		switch total := u.GetTotal(); {
		case known.Device > 0 && (total < max(1, min(known.Least, known.Device)) || total > roundedUp*max(known.Device, known.Asked)):
			f.add("usage.total", totalOfVolume, "is %d of a block device of %d bytes", total, known.Device)
		case known.Before > 0 && total == known.Before && known.Least > known.Before:
			f.add("usage.total", totalOfVolume, "is %d still, as before the volume grew to %d bytes", total, known.Least)
		}
	}
	return f.list
}

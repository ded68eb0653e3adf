package contract

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// Filling holds the usage of a volume before a number of bytes are written to it, while it contains
// them, and after they are removed.
type Filling struct {
	Bytes              int64
	Empty, Full, Again *csi.NodeGetVolumeStatsResponse
}

// Swapped reports whether used and available are confused. In that case, available rises and used
// falls when bytes are written, and both return to their values afterwards. If either value is
// unchanged, the driver may measure later, or measure a file system other than this volume's.
func (f Filling) Swapped() bool {
	return f.reversed(f.Empty, f.Full) && f.reversed(f.Again, f.Full)
}

func (f Filling) reversed(without, with *csi.NodeGetVolumeStatsResponse) bool {
	before, after := bytesOf(without), bytesOf(with)
	return f.isAbout(before.GetUsed()-after.GetUsed()) && f.isAbout(after.GetAvailable()-before.GetAvailable())
}

// isAbout tolerates a deviation of a quarter, because a file system has blocks and metadata.
func (f Filling) isAbout(n int64) bool { return n >= f.Bytes*3/4 && n <= f.Bytes*5/4 }

func bytesOf(answer *csi.NodeGetVolumeStatsResponse) *csi.VolumeUsage {
	for _, u := range answer.GetUsage() {
		if u.GetUnit() == csi.VolumeUsage_BYTES {
			return u
		}
	}
	return nil
}

// SwapsUsage returns the verdict on used and available that are swapped.
func SwapsUsage(method string, seen Filling) []verdict.Verdict {
	f := findings{method: method, of: seen.Full}
	f.add("usage.used", "the CSI spec wants the used capacity there and the available one in available", "falls from %d to %d when %d bytes are written, and available rises",
		bytesOf(seen.Empty).GetUsed(), bytesOf(seen.Full).GetUsed(), seen.Bytes)
	return f.list
}

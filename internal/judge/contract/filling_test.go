package contract

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
)

// Other programs may write to the file system of a volume, and a driver may measure later.
func TestUsageIsSwappedIfBothValuesChangeTheWrongWayAndReturn(t *testing.T) {
	const mib = 1 << 20
	type usage struct{ used, available int64 }
	for _, c := range []struct {
		name               string
		empty, full, again usage
		swapped            bool
	}{
		{"a sound driver", usage{1, 15}, usage{5, 11}, usage{1, 15}, false},
		{"swapped", usage{15, 1}, usage{11, 5}, usage{15, 1}, true},
		{"swapped in a file system with blocks", usage{16, 1}, usage{13, 5}, usage{16, 1}, true},
		{"a driver that measures later", usage{1, 15}, usage{1, 15}, usage{1, 15}, false},
		{"another program removes as much", usage{100, 10}, usage{96, 14}, usage{92, 18}, false},
		{"another program removes more", usage{100, 10}, usage{50, 60}, usage{100, 10}, false},
		{"available is that of the pool", usage{15, 1000}, usage{11, 1000}, usage{15, 1000}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := func(u usage) *csi.NodeGetVolumeStatsResponse {
				return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
					{Unit: csi.VolumeUsage_INODES, Total: 1}, {Unit: csi.VolumeUsage_BYTES, Used: u.used * mib, Available: u.available * mib},
				}}
			}
			f := Filling{Bytes: 4 * mib, Empty: answer(c.empty), Full: answer(c.full), Again: answer(c.again)}
			assert.Equal(t, c.swapped, f.Swapped())
		})
	}
	assert.False(t, Filling{Bytes: 4 * mib}.Swapped(), "a driver that answers no bytes")
}

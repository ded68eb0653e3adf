package contract

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
)

func TestTheTotalOfAVolumeIsItsSize(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name  string
		total int64
		known Sizes
		wrong bool
	}{
		{"of a device", 16 * mib, Sizes{Least: 16 * mib, Device: 16 * mib}, false},
		{"of a device that was rounded up", 16 * mib, Sizes{Least: 16 * mib, Device: 20 * mib}, false},
		{"of a device of a volume of which nothing is known", 16 * mib, Sizes{Device: 16 * mib}, false},
		{"of a device that has not grown yet as its storage has", 32 * mib, Sizes{Least: 16 * mib, Device: 16 * mib, Asked: 32 * mib}, false},
		{"of the file system of a device node", 12 << 30, Sizes{Least: 16 * mib, Device: 16 * mib}, true},
		{"nothing of a device", 0, Sizes{Device: 16 * mib}, true},
		{"of a device before it grew", 16 * mib, Sizes{Least: 32 * mib, Before: 16 * mib, Device: 32 * mib}, true},
		{"of a file system before it grew", 16 * mib, Sizes{Least: 32 * mib, Before: 16 * mib}, true},
		{"of a file system that has grown", 32 * mib, Sizes{Least: 32 * mib, Before: 16 * mib}, false},
		{"of a file system with its metadata", 15 * mib, Sizes{Least: 32 * mib, Before: 16 * mib}, false},
		{"of a larger copy", 32 * mib, Sizes{Least: 32 * mib, Source: 16 * mib}, false},
		{"of the source of a larger copy", 16 * mib, Sizes{Least: 32 * mib, Source: 16 * mib}, true},
		{"of a copy of the same size", 16 * mib, Sizes{Least: 16 * mib, Source: 16 * mib}, false},
		{"of the directory of a large file system", 1 << 40, Sizes{Least: 32 * mib, Before: 16 * mib}, false},
		{"of the mounted file system", 64 * mib, Sizes{Least: 16 * mib, FileSystem: 64 * mib, Others: []int64{256 * mib}}, false},
		{"of a file system around the mounted one", 256 * mib, Sizes{Least: 16 * mib, FileSystem: 64 * mib, Others: []int64{128 * mib, 256 * mib}}, true},
		{"of a volume with a quota as large as a file system around it", 16 * mib, Sizes{Least: 16 * mib, FileSystem: 64 * mib, Others: []int64{16 * mib}}, false},
		{"of another part of the backend", 512 * mib, Sizes{Least: 16 * mib, FileSystem: 64 * mib, Others: []int64{256 * mib}}, false},
		{"of the only file system", 256 * mib, Sizes{Least: 16 * mib, FileSystem: 256 * mib, Others: []int64{256 * mib}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{{Unit: csi.VolumeUsage_BYTES, Total: c.total}}}
			assert.Equal(t, c.wrong, len(CheckStats("Node/NodeGetVolumeStats", answer, c.known)) > 0)
		})
	}
}

package csi

import (
	"testing"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
)

func TestTheUsageOfAVolume(t *testing.T) { // K-STAT-4
	bytes := &csispec.VolumeUsage{Unit: csispec.VolumeUsage_BYTES, Available: 1, Total: 3, Used: 2}
	inodes := &csispec.VolumeUsage{Unit: csispec.VolumeUsage_INODES, Available: 10, Total: 30, Used: 20}
	for _, c := range []struct {
		name  string
		usage []*csispec.VolumeUsage
		want  Usage
	}{
		{"bytes and inodes", []*csispec.VolumeUsage{bytes, inodes}, Usage{Capacity: 3, Available: 1, Used: 2, Inodes: 30, InodesFree: 10, InodesUsed: 20}},
		{"bytes only", []*csispec.VolumeUsage{bytes}, Usage{Capacity: 3, Available: 1, Used: 2}},
		{"inodes only", []*csispec.VolumeUsage{inodes}, Usage{Inodes: 30, InodesFree: 10, InodesUsed: 20}},
		{"an unknown unit", []*csispec.VolumeUsage{{Available: 1, Total: 3, Used: 2}, inodes}, Usage{Inodes: 30, InodesFree: 10, InodesUsed: 20}},
		{"twice the same unit", []*csispec.VolumeUsage{{Unit: csispec.VolumeUsage_BYTES, Total: 9, Used: 9}, bytes}, Usage{Capacity: 3, Available: 1, Used: 2}},
		{"nothing", nil, Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, usageOf(&csispec.NodeGetVolumeStatsResponse{Usage: c.usage}))
		})
	}
}

package contract

import (
	"io/fs"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
)

// CSI "NodePublishVolume", target_path: the mounted directory, or the block device, is placed
// there.
func TestATargetIsADirectoryOrADevice(t *testing.T) {
	mount := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}}
	block := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	for _, c := range []struct {
		name string
		as   *csi.VolumeCapability
		is   fs.FileMode
		want string
	}{
		{"a directory", mount, fs.ModeDir, ""},
		{"a file", mount, 0o644, "NodePublishVolume publishes no directory: a file lies at /t"},
		{"a FIFO", mount, fs.ModeNamedPipe, "NodePublishVolume publishes no directory: a FIFO lies at /t"},
		{"a socket", mount, fs.ModeSocket, "NodePublishVolume publishes no directory: a socket lies at /t"},
		{"a symbolic link", mount, fs.ModeSymlink | 0o777, "NodePublishVolume publishes no directory: a symbolic link lies at /t"},
		{"a device for a file system", mount, fs.ModeDevice, "NodePublishVolume publishes no directory: a device lies at /t"},
		{"a device", block, fs.ModeDevice, ""},
		{"a link to a device", block, fs.ModeSymlink, ""},
		{"a directory for a device", block, fs.ModeDir, "NodePublishVolume publishes no block device: a directory lies at /t"},
		{"a FIFO for a device", block, fs.ModeNamedPipe, "NodePublishVolume publishes no block device: a FIFO lies at /t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, v := range CheckTarget("Node/NodePublishVolume", &csi.NodePublishVolumeRequest{TargetPath: "/t", VolumeCapability: c.as}, c.is) {
				got += v.String()
			}
			assert.Equal(t, c.want, got)
		})
	}
}

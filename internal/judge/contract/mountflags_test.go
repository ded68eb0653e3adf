package contract

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
)

func TestTheMountThatIsPublishedHasTheFlagsThatItCanShow(t *testing.T) {
	for _, c := range []struct {
		name           string
		flags, options []string
		want           string
	}{
		{"no flags", nil, []string{"rw"}, ""},
		{"a flag that is there", []string{"noexec"}, []string{"rw", "noexec", "relatime"}, ""},
		{"a flag that is not there", []string{"nosuid", "noexec"}, []string{"rw", "nosuid"}, "NodePublishVolume ignores mount_flags: the mount at /t, seen from the node, is without noexec"},
		{"a flag of some file systems only", []string{"discard", "nfsvers=4.1", "noatime"}, []string{"rw"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, v := range CheckFlags("Node/NodePublishVolume", published(c.flags), c.options) {
				assert.True(t, v.Remark, "the CSI spec makes it no duty")
				got += v.String()
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestABlockDeviceHasNoMountFlags(t *testing.T) {
	block := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	assert.False(t, ShowsFlags(&csi.NodePublishVolumeRequest{VolumeCapability: block}))
	assert.True(t, ShowsFlags(published([]string{"noexec"})))
	assert.False(t, ShowsFlags(published([]string{"noatime"})))
}

func published(flags []string) *csi.NodePublishVolumeRequest {
	mount := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{MountFlags: flags}}}
	return &csi.NodePublishVolumeRequest{TargetPath: "/t", VolumeCapability: mount}
}

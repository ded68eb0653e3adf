package contract_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/contract"
)

func TestAMountGroupIsTheOwnerOrAnOption(t *testing.T) { // K-FSG-1
	for _, c := range []struct {
		name, group string
		flags       []string
		readOnly    bool
		owner       uint32
		options     []string
		want        int
	}{
		{name: "no group"},
		{name: "the owner", group: "2000", owner: 2000},
		{name: "an option", group: "2000", options: []string{"rw", "gid=2000"}},
		{name: "read-only", group: "2000", readOnly: true},
		{name: "flags with another group", group: "2000", flags: []string{"uid=1001", "file_mode=0777,gid=1001"}, owner: 1001},
		{name: "flags without a group", group: "2000", flags: []string{"uid=1001", "egid=7"}, owner: 1001, want: 1},
		{name: "neither", group: "2000", options: []string{"gid=20000"}, want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			request := &csi.NodePublishVolumeRequest{TargetPath: "/t", Readonly: c.readOnly, VolumeCapability: &csi.VolumeCapability{
				AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{VolumeMountGroup: c.group, MountFlags: c.flags}},
			}}
			found := contract.CheckMountGroup("Node/NodePublishVolume", request, c.owner, c.options)
			assert.Len(t, found, c.want)
		})
	}
}

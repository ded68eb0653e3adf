package mock

import (
	"context"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given a volume of one release. When another release with other options answers, then it has the
// volume, its own capabilities and its own limit of volumes per node, and assigns new ids.
func TestReleasesShareTheStorageSystem(t *testing.T) {
	old := New(Options{Name: "d", Existing: []ExistingVolume{{ID: "there"}}, MaxVolumesPerNode: 3})
	next := old.Release(Options{Name: "d", VendorVersion: "2", Snapshot: true})
	ctx, ids := context.Background(), []string{}
	for i, d := range []*Driver{old, next, old} {
		made, err := d.Controller().CreateVolume(ctx, &csi.CreateVolumeRequest{
			Name: string(rune('a' + i)), VolumeCapabilities: []*csi.VolumeCapability{{
				AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}, AccessMode: &csi.VolumeCapability_AccessMode{Mode: singleWriter},
			}},
		})
		require.NoError(t, err)
		ids = append(ids, made.Volume.VolumeId)
	}
	assert.Equal(t, []string{"vol-0001", "vol-0002", "vol-0003"}, ids)
	assert.Len(t, old.Volumes(), 4)
	assert.Equal(t, old.Volumes(), next.Volumes())

	limitOf := func(d *Driver) int64 {
		info, err := d.Node(NodeOptions{NodeID: "a"}).NodeGetInfo(ctx, &csi.NodeGetInfoRequest{})
		require.NoError(t, err)
		return info.MaxVolumesPerNode
	}
	assert.Equal(t, []int64{3, 0, 3}, []int64{limitOf(old), limitOf(next), limitOf(old)})

	can := func(d *Driver) string {
		answer, err := d.Controller().ControllerGetCapabilities(ctx, &csi.ControllerGetCapabilitiesRequest{})
		require.NoError(t, err)
		return answer.String()
	}
	assert.NotContains(t, can(old), "CREATE_DELETE_SNAPSHOT")
	assert.Contains(t, can(next), "CREATE_DELETE_SNAPSHOT")
}

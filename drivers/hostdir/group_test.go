//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// group takes a group snapshot of the volumes with these names. The content of each volume is its
// name. It returns the contents of volumes that are created from the snapshots.
func (d *driver) group(names ...string) (g *csi.VolumeGroupSnapshot, contents []string) {
	t := d.w.t
	request := &csi.CreateVolumeGroupSnapshotRequest{Name: "group"}
	data := func(id string) string { return d.w.path("backend", "volumes", id, "data", "f") }
	for _, name := range names {
		v := d.create(name, capability(false, singleNode))
		require.NoError(t, os.WriteFile(data(v.id), []byte(name), 0o600))
		request.SourceVolumeIds = append(request.SourceVolumeIds, v.id)
	}
	answer, err := d.CreateVolumeGroupSnapshot(t.Context(), request)
	require.NoError(t, err)
	for i, s := range answer.GetGroupSnapshot().GetSnapshots() {
		assert.Equal(t, request.GetSourceVolumeIds()[i], s.GetSourceVolumeId())
		made, err := d.CreateVolume(t.Context(), &csi.CreateVolumeRequest{
			Name: "from-" + s.GetSnapshotId(), VolumeCapabilities: []*csi.VolumeCapability{capability(false, singleNode)},
			VolumeContentSource: &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
				Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: s.GetSnapshotId()},
			}},
		})
		require.NoError(t, err)
		content, err := os.ReadFile(data(made.GetVolume().GetVolumeId()))
		require.NoError(t, err)
		contents = append(contents, string(content))
	}
	return answer.GetGroupSnapshot(), contents
}

func TestTheSnapshotsOfAGroupHaveTheContentOfTheirVolumes(t *testing.T) {
	_, contents := newWorld(t).start("node-a").group("first", "second")
	assert.Equal(t, []string{"first", "second"}, contents)
}

func TestAGroupIsMadeOnceAndDeletedAsAWhole(t *testing.T) {
	d := newWorld(t).start("node-a")
	g, _ := d.group("first", "second")
	var volumes, snapshots []string
	for _, s := range g.GetSnapshots() {
		volumes, snapshots = append(volumes, s.GetSourceVolumeId()), append(snapshots, s.GetSnapshotId())
		assert.Equal(t, g.GetGroupSnapshotId(), s.GetGroupSnapshotId())
	}
	again, err := d.CreateVolumeGroupSnapshot(t.Context(), &csi.CreateVolumeGroupSnapshotRequest{Name: "group", SourceVolumeIds: volumes})
	require.NoError(t, err)
	assert.Equal(t, g.String(), again.GetGroupSnapshot().String())
	_, err = d.CreateVolumeGroupSnapshot(t.Context(), &csi.CreateVolumeGroupSnapshotRequest{Name: "group", SourceVolumeIds: volumes[:1]})
	assert.Equal(t, codes.AlreadyExists, status.Code(err))
	got, err := d.GetVolumeGroupSnapshot(t.Context(), &csi.GetVolumeGroupSnapshotRequest{GroupSnapshotId: g.GetGroupSnapshotId(), SnapshotIds: snapshots})
	require.NoError(t, err)
	assert.Equal(t, g.String(), got.GetGroupSnapshot().String())

	_, err = d.DeleteSnapshot(t.Context(), &csi.DeleteSnapshotRequest{SnapshotId: snapshots[0]})
	assert.Equal(t, codes.InvalidArgument, status.Code(err), "it goes with its group")
	whole := &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: g.GetGroupSnapshotId(), SnapshotIds: snapshots}
	_, err = d.DeleteVolumeGroupSnapshot(t.Context(), &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: whole.GetGroupSnapshotId(), SnapshotIds: snapshots[:1]})
	assert.Equal(t, codes.InvalidArgument, status.Code(err))
	for range 2 {
		_, err = d.DeleteVolumeGroupSnapshot(t.Context(), whole)
		require.NoError(t, err)
	}
	left, err := d.ListSnapshots(t.Context(), &csi.ListSnapshotsRequest{})
	require.NoError(t, err)
	assert.Empty(t, left.GetEntries())
	entries, err := filepath.Glob(d.w.path("backend", "groups", "*"))
	require.NoError(t, err)
	assert.Empty(t, entries)
}

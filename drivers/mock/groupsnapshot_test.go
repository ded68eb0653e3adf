package mock

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
)

func groupOf(name string, volumes ...string) step {
	return func(w *world) error {
		return call(w, "GroupController/CreateVolumeGroupSnapshot", w.c.CreateVolumeGroupSnapshot,
			&csi.CreateVolumeGroupSnapshotRequest{Name: name, SourceVolumeIds: volumes})
	}
}

func removeGroup(id string, snapshots ...string) step {
	return func(w *world) error {
		return call(w, "GroupController/DeleteVolumeGroupSnapshot", w.c.DeleteVolumeGroupSnapshot,
			&csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: id, SnapshotIds: snapshots})
	}
}

func getGroup(id string, snapshots ...string) step {
	return func(w *world) error {
		return call(w, "GroupController/GetVolumeGroupSnapshot", w.c.GetVolumeGroupSnapshot,
			&csi.GetVolumeGroupSnapshotRequest{GroupSnapshotId: id, SnapshotIds: snapshots})
	}
}

func removeSnapshot(id string) step {
	return func(w *world) error {
		return call(w, "Controller/DeleteSnapshot", w.c.DeleteSnapshot, &csi.DeleteSnapshotRequest{SnapshotId: id})
	}
}

// The test follows CSI "CreateVolumeGroupSnapshot Errors", "DeleteVolumeGroupSnapshot Errors",
// "GetVolumeGroupSnapshot Errors".
func TestGroupSnapshots(t *testing.T) {
	all := everything()
	two := steps(create(multiWriter), create(multiWriter, named("other")))
	cut := append(two, groupOf("g", "vol-0001", "vol-0002"))
	checkRPC(t, []rpcCase{
		{"a group", all, two, groupOf("g", "vol-0001", "vol-0002"), codes.OK},
		{"again", all, cut, groupOf("g", "vol-0001", "vol-0002"), codes.OK},
		{"again, in another order", all, cut, groupOf("g", "vol-0002", "vol-0001"), codes.OK},
		{"of other volumes", all, cut, groupOf("g", "vol-0001"), codes.AlreadyExists},
		{"of an unknown volume", all, two, groupOf("g", "vol-0001", "vol-0003"), codes.NotFound},
		{"sources are required", all, two, groupOf("g"), codes.InvalidArgument},
		{"a name is required", all, two, groupOf("", "vol-0001"), codes.InvalidArgument},
		{"no groups", Options{Snapshot: true}, two, groupOf("g", "vol-0001"), codes.Unimplemented},
		{"got", all, cut, getGroup("group-0001", "snap-0002", "snap-0001"), codes.OK},
		{"got with other snapshots", all, cut, getGroup("group-0001", "snap-0001"), codes.InvalidArgument},
		{"got though there is none", all, cut, getGroup("group-0002", "snap-0001"), codes.NotFound},
		{"deleted", all, cut, removeGroup("group-0001", "snap-0001", "snap-0002"), codes.OK},
		{"deleted again", all, append(cut, removeGroup("group-0001", "snap-0001", "snap-0002")), removeGroup("group-0001", "snap-0001", "snap-0002"), codes.OK},
		{"deleted with other snapshots", all, cut, removeGroup("group-0001", "snap-0001"), codes.InvalidArgument},
		{"a member is not deleted alone", all, cut, removeSnapshot("snap-0001"), codes.InvalidArgument},
		{"a member is a source", all, cut, create(multiWriter, named("new"), fromSnapshot("snap-0002")), codes.OK},
		{"a member of a deleted group is deleted, too", all, append(cut, removeGroup("group-0001", "snap-0001", "snap-0002")),
			create(multiWriter, named("new"), fromSnapshot("snap-0002")), codes.NotFound},
	})
}

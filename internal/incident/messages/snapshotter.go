package messages

// csi-snapshotter: pkg/sidecar-controller of external-snapshotter v4 to v8.
var _ = register(&Table{Program: "csi-snapshotter", Names: []string{"csi-snapshotter", "snapshotter", "external-snapshotter"}, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"snapshot_controller.go", "createSnapshotWrapper: Creating snapshot for content {snapshot} through the plugin ...", SnapshotStarted},
	{"snapshot_controller.go", "createSnapshotWrapper: CreateSnapshot for content {snapshot} returned error: {error}", SnapshotFailed},
	{"snapshot_controller.go", "createSnapshot for content [{snapshot}]: error occurred in createSnapshotWrapper: {error}", SnapshotFailed},
	{"snapshot_controller.go", "createSnapshot for content [{snapshot}]: started", None},
	{"snapshot_controller.go", "Created snapshot: driver {driver}, snapshotId {snapshotID}, creationTime {}, size {}, readyToUse {ready}", Snapshotted},
	{"snapshot_controller.go", "checkandUpdateContentStatus [{snapshot}]: error occurred {error}", SnapshotFailed},
	{"snapshot_controller.go", "deleteCSISnapshotOperation [{snapshot}] started", None},
	{"snapshot_controller.go", "Removed protection finalizer from volume snapshot content {snapshot}", None},
	{"groupsnapshot_helper.go", "createGroupSnapshotWrapper: Creating group snapshot for group snapshot content {group} through the plugin ...", GroupSnapshotStarted},
	{"groupsnapshot_helper.go", "createGroupSnapshotWrapper: CreateGroupSnapshot for groupSnapshotContent {group} returned error: {error}", GroupSnapshotFailed},
	{"groupsnapshot_helper.go", "createGroupSnapshot for groupSnapshotContent [{group}]: error occurred in createGroupSnapshotWrapper: {error}", GroupSnapshotFailed},
	{"groupsnapshot_helper.go", "createGroupSnapshot for group snapshot content [{group}]: started", None},
	{"groupsnapshot_helper.go", "Created group snapshot: driver {driver}, groupSnapshotId {groupSnapshotID}, creationTime {}, readyToUse {ready}", GroupSnapshotted},
	{"groupsnapshot_helper.go", "checkandUpdateGroupSnapshotContentStatus [{group}]: error occurred {error}", GroupSnapshotFailed},
	{"groupsnapshot_helper.go", "deleteCSIGroupSnapshotOperation [{group}] started", None},
	{"groupsnapshot_helper.go", "Removed protection finalizer from volume group snapshot content {group}", None},
	{"groupsnapshot_helper.go", `could not sync group snapshot content "{group}": {error}`, GroupSnapshotFailed},
	{"snapshot_controller_base.go", "Starting CSI snapshotter", ProgramStarted},
	{"snapshot_controller_base.go", "Shutting CSI snapshotter", ProgramEnded},
	{"snapshot_controller_base.go", `could not sync content "{snapshot}": {error}`, SnapshotFailed},
}})

// snapshot-controller: pkg/common-controller of external-snapshotter v4 to v8.
var _ = register(&Table{Program: "snapshot-controller", Names: []string{"snapshot-controller", "csi-snapshot-controller", "volume-snapshot-controller"}, Messages: []Message{
	{"snapshot_controller.go", "createSnapshotContent: Creating content for snapshot {snapshot} through the plugin ...", SnapshotStarted},
	{"snapshot_controller.go", "error check and remove PVC finalizer for snapshot [{snapshot}]: {error}", None},
	{"snapshot_controller.go", "checkandRemoveSnapshotFinalizersAndCheckandDeleteContent[{snapshot}]: snapshot is being used to restore a PVC", None},
	{"snapshot_controller.go", "failed to delete snapshot {snapshot}: {error}", SnapshotDeleteFailed},
	{"snapshot_controller.go", "cannot add finalizer on claim [{pvc}] for snapshot [{snapshot}]: {error}", SnapshotFailed},
	{"snapshot_controller.go", "Keeping PVC {pvc}, it is used by snapshot {snapshot}", None},
	{"groupsnapshot_controller_helper.go", "createGroupSnapshotContent: Creating group snapshot content for group snapshot {group} through the plugin ...", GroupSnapshotStarted},
	{"groupsnapshot_controller_helper.go", `could not sync group snapshot "{group}": {error}`, GroupSnapshotFailed},
	{"snapshot_controller_base.go", "Starting snapshot controller", ProgramStarted},
	{"snapshot_controller_base.go", "Shutting snapshot controller", ProgramEnded},
	{"snapshot_controller_base.go", `could not sync snapshot "{snapshot}": {error}`, SnapshotFailed},
}})

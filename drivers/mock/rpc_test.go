package mock

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
)

type rpcCase struct {
	rule    string
	options Options
	given   []step
	when    step
	want    codes.Code
}

func checkRPC(t *testing.T, cases []rpcCase) {
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			w := given(t, c.options, c.given...)
			assert.Equal(t, c.want.String(), code(c.when(w)).String(), w.log)
			assert.Empty(t, w.wrong)
		})
	}
}

func steps(s ...step) []step { return s }

func size(low, high int64) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) {
		r.CapacityRange = &csi.CapacityRange{RequiredBytes: low, LimitBytes: high}
	}
}

func named(name string) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) { r.Name = name }
}

func parameter(value string) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) { r.Parameters = map[string]string{"type": value} }
}

func fromSnapshot(id string) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) {
		r.VolumeContentSource = &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
			Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: id}}}
	}
}

func cloneOf(id string) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) {
		r.VolumeContentSource = &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
			Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: id}}}
	}
}

func zone(key, value string) func(*csi.CreateVolumeRequest) {
	return func(r *csi.CreateVolumeRequest) {
		r.AccessibilityRequirements = &csi.TopologyRequirement{Requisite: []*csi.Topology{{Segments: map[string]string{key: value}}}}
	}
}

// CSI "CreateVolume Errors", "DeleteVolume Errors".
func TestCreateAndDelete(t *testing.T) {
	all, zones := everything(), Options{Topology: true, TopologyKey: "zone"}
	checkRPC(t, []rpcCase{
		{"a volume is made", Options{}, nil, create(multiWriter), codes.OK},
		{"a repeated call is OK", Options{}, steps(create(multiWriter)), create(multiWriter), codes.OK},
		{"a name is required", Options{}, nil, create(multiWriter, named("")), codes.InvalidArgument},
		{"a control character", Options{}, nil, create(multiWriter, named("a\x00")), codes.InvalidArgument},
		{"capabilities are required", Options{}, nil, create(multiWriter, func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities = nil }), codes.InvalidArgument},
		{"another size", Options{}, steps(create(multiWriter)), create(multiWriter, size(1<<21, 0)), codes.AlreadyExists},
		{"other parameters", Options{}, steps(create(multiWriter)), create(multiWriter, parameter("fast")), codes.AlreadyExists},
		{"another reach", Options{}, steps(create(multiWriter)), create(manyNodes), codes.AlreadyExists},
		{"writers need SINGLE_NODE_MULTI_WRITER", Options{SingleNodeMultiWriter: off()}, nil, create(multiWriter), codes.InvalidArgument},
		{"SINGLE_NODE_WRITER always works", Options{}, nil, create(nodeWriter), codes.OK},
		{"an impossible range", Options{}, nil, create(multiWriter, size(2, 1)), codes.OutOfRange},
		{"more than the pool", Options{CapacityBytes: 1 << 10}, nil, create(multiWriter), codes.OutOfRange},
		{"more than is free", Options{CapacityBytes: 3 << 19}, steps(create(multiWriter)), create(multiWriter, named("other")), codes.ResourceExhausted},
		{"no create capability", Options{CreateDeleteVolume: off()}, nil, create(multiWriter), codes.Unimplemented},
		{"snapshots not supported", Options{}, nil, create(multiWriter, fromSnapshot("s")), codes.InvalidArgument},
		{"clones not supported", Options{}, nil, create(multiWriter, cloneOf("v")), codes.InvalidArgument},
		{"unknown snapshot", all, nil, create(multiWriter, fromSnapshot("s")), codes.NotFound},
		{"unknown source volume", all, nil, create(multiWriter, cloneOf("v")), codes.NotFound},
		{"from a snapshot", all, steps(create(multiWriter), snapshotOf("s", "vol-0001")), create(multiWriter, named("new"), fromSnapshot("snap-0001")), codes.OK},
		{"a clone", all, steps(create(multiWriter)), create(multiWriter, named("new"), cloneOf("vol-0001")), codes.OK},
		{"smaller than the source", all, steps(create(multiWriter)), create(multiWriter, named("new"), cloneOf("vol-0001"), size(1, 0)), codes.OutOfRange},
		{"a snapshot that is not ready", Options{Snapshot: true, SnapshotPolls: 2}, steps(create(multiWriter), snapshotOf("s", "vol-0001")), create(multiWriter, named("new"), fromSnapshot("snap-0001")), codes.FailedPrecondition},
		{"topology not supported", Options{}, nil, create(multiWriter, zone("zone", "a")), codes.InvalidArgument},
		{"a zone with a node", zones, nil, create(multiWriter, zone("zone", "a")), codes.OK},
		{"a zone without a node", zones, nil, create(multiWriter, zone("zone", "c")), codes.ResourceExhausted},
		{"mutable parameters not supported", Options{}, nil, create(multiWriter, func(r *csi.CreateVolumeRequest) { r.MutableParameters = map[string]string{"iops": "1"} }), codes.InvalidArgument},
		{"a volume is deleted", Options{}, steps(create(multiWriter)), remove("vol-0001"), codes.OK},
		{"deleting a deleted volume is OK", Options{}, nil, remove("vol-0001"), codes.OK},
		{"an id is required to delete", Options{}, nil, remove(""), codes.InvalidArgument},
		{"a volume in use is kept", Options{}, steps(create(multiWriter), attach("a", multiWriter)), remove("vol-0001"), codes.FailedPrecondition},
		{"staged, where there is no attach", Options{Attach: off()}, steps(create(multiWriter), stage("a", multiWriter)), remove("vol-0001"), codes.FailedPrecondition},
	})
}

// CSI "ControllerPublishVolume Errors", "ControllerUnpublishVolume".
func TestAttachAndDetach(t *testing.T) {
	readOnly := func(r *csi.ControllerPublishVolumeRequest) { r.Readonly = true }
	made, shared := create(multiWriter), create(manyNodes)
	zones := Options{Topology: true, TopologyKey: "zone"}
	checkRPC(t, []rpcCase{
		{"a volume is attached", Options{}, steps(made), attach("a", multiWriter), codes.OK},
		{"again", Options{}, steps(made, attach("a", multiWriter)), attach("a", multiWriter), codes.OK},
		{"again, but read-only", Options{}, steps(made, attach("a", multiWriter)), attach("a", multiWriter, readOnly), codes.AlreadyExists},
		{"unknown volume", Options{}, nil, attach("a", multiWriter), codes.NotFound},
		{"unknown node", Options{}, steps(made), attach("z", multiWriter), codes.NotFound},
		{"a node is required", Options{}, steps(made), attach("", multiWriter), codes.InvalidArgument},
		{"no attach capability", Options{Attach: off()}, steps(made), attach("a", multiWriter), codes.Unimplemented},
		{"no readonly capability", Options{PublishReadonly: off()}, steps(made), attach("a", multiWriter, readOnly), codes.InvalidArgument},
		{"another node", Options{}, steps(made, attach("a", multiWriter)), attach("b", multiWriter), codes.FailedPrecondition},
		{"another node, multi-node mode", Options{}, steps(shared, attach("a", manyNodes)), attach("b", manyNodes), codes.OK},
		{"multi-node mode on a single-node volume", Options{}, steps(made), attach("a", manyNodes), codes.InvalidArgument},
		{"as a block device", Options{}, steps(made), attach("a", multiWriter, func(r *csi.ControllerPublishVolumeRequest) { r.VolumeCapability = block(multiWriter) }), codes.InvalidArgument},
		{"without the volume context", Options{}, steps(made), attach("a", multiWriter, func(r *csi.ControllerPublishVolumeRequest) { r.VolumeContext = nil }), codes.InvalidArgument},
		{"out of the zone", zones, steps(create(multiWriter, zone("zone", "a"))), attach("b", multiWriter), codes.InvalidArgument},
		{"a full node", Options{MaxVolumesPerNode: 1}, steps(made, attach("a", multiWriter), create(multiWriter, named("other"))),
			attach("a", multiWriter, func(r *csi.ControllerPublishVolumeRequest) { r.VolumeId = "vol-0002" }), codes.ResourceExhausted},
		{"detach", Options{}, steps(made, attach("a", multiWriter)), detach("a"), codes.OK},
		{"detach makes room elsewhere", Options{}, steps(made, attach("a", multiWriter), detach("a")), attach("b", multiWriter), codes.OK},
		{"detach from all nodes", Options{}, steps(made, attach("a", multiWriter), detach("")), remove("vol-0001"), codes.OK},
		{"detach of a volume that is not attached is OK", Options{}, steps(made), detach("a"), codes.OK},
		{"detach of an unknown volume is OK", Options{}, nil, detach("a"), codes.OK},
	})
}

// CSI "NodeStageVolume Errors", "NodeUnstageVolume", "RPC Interactions and Reference Counting".
func TestStageAndUnstage(t *testing.T) {
	attached := steps(create(multiWriter), attach("a", multiWriter))
	staged := append(attached, stage("a", multiWriter))
	elsewhere := func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "/other" }
	checkRPC(t, []rpcCase{
		{"a volume is staged", Options{}, attached, stage("a", multiWriter), codes.OK},
		{"again", Options{}, staged, stage("a", multiWriter), codes.OK},
		{"again with another capability", Options{}, staged, stage("a", nodeWriter), codes.AlreadyExists},
		{"one staging path per volume", Options{}, staged, stage("a", multiWriter, elsewhere), codes.FailedPrecondition},
		{"not attached", Options{}, steps(create(multiWriter)), stage("a", multiWriter), codes.FailedPrecondition},
		{"attached to another node", Options{}, attached, stage("b", multiWriter), codes.FailedPrecondition},
		{"without attach", Options{Attach: off()}, steps(create(multiWriter)), stage("a", multiWriter), codes.OK},
		{"unknown volume", Options{}, nil, stage("a", multiWriter), codes.NotFound},
		{"a relative path", Options{}, attached, stage("a", multiWriter, func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "s" }), codes.InvalidArgument},
		{"without the publish context", Options{}, attached, stage("a", multiWriter, func(r *csi.NodeStageVolumeRequest) { r.PublishContext = nil }), codes.InvalidArgument},
		{"not supported by the volume", Options{}, attached, stage("a", manyNodes), codes.FailedPrecondition},
		{"a mount group without the capability", Options{}, attached, stage("a", multiWriter, func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability.GetMount().VolumeMountGroup = "1" }), codes.InvalidArgument},
		{"no stage capability", Options{Stage: off()}, attached, stage("a", multiWriter), codes.Unimplemented},
		{"unstage", Options{}, staged, unstage("a"), codes.OK},
		{"unstage of an unstaged volume is OK", Options{}, attached, unstage("a"), codes.OK},
		{"unstage of a deleted volume is OK", Options{}, append(attached, detach("a"), remove("vol-0001")), unstage("a"), codes.OK},
		{"unstage of an unknown volume", Options{}, nil, unstage("a"), codes.NotFound},
		{"unstage while published", Options{}, append(staged, publish("a", "/1", multiWriter)), unstage("a"), codes.FailedPrecondition},
	})
}

// The test follows CSI "NodePublishVolume": the tables for a second call, and the errors.
func TestPublishAndUnpublish(t *testing.T) {
	ready := func(mode accessMode) []step { return steps(create(mode), attach("a", mode), stage("a", mode)) }
	published := func(mode accessMode) []step { return append(ready(mode), publish("a", "/1", mode)) }
	readOnly := func(r *csi.NodePublishVolumeRequest) { r.Readonly = true }
	inlineVolume := func(r *csi.NodePublishVolumeRequest) {
		r.StagingTargetPath, r.PublishContext, r.VolumeContext = "", nil, map[string]string{inline: "true"}
	}
	checkRPC(t, []rpcCase{
		{"a volume is published", Options{}, ready(multiWriter), publish("a", "/1", multiWriter), codes.OK},
		{"T1=T2 P1=P2", Options{}, published(multiWriter), publish("a", "/1", multiWriter), codes.OK},
		{"T1=T2 P1!=P2", Options{}, published(multiWriter), publish("a", "/1", multiWriter, readOnly), codes.AlreadyExists},
		{"T1!=T2 multi writer", Options{}, published(multiWriter), publish("a", "/2", multiWriter), codes.OK},
		{"T1!=T2 multi writer, P1!=P2", Options{}, published(multiWriter), publish("a", "/2", multiWriter, readOnly), codes.OK},
		{"T1!=T2 single writer", Options{}, published(singleWriter), publish("a", "/2", singleWriter), codes.FailedPrecondition},
		{"T1!=T2 SINGLE_NODE_WRITER", Options{}, published(nodeWriter), publish("a", "/2", nodeWriter), codes.FailedPrecondition},
		{"T1!=T2 many nodes", Options{}, published(manyNodes), publish("a", "/2", manyNodes), codes.OK},
		{"T1!=T2 another capability", Options{}, published(manyNodes), publish("a", "/2", multiWriter), codes.FailedPrecondition},
		{"T1!=T2 SINGLE_NODE_WRITER in the first table", Options{SingleNodeMultiWriter: off()}, published(nodeWriter), publish("a", "/2", nodeWriter), codes.FailedPrecondition},
		{"staged first", Options{}, steps(create(multiWriter), attach("a", multiWriter)), publish("a", "/1", multiWriter), codes.FailedPrecondition},
		{"attached first", Options{Stage: off()}, steps(create(multiWriter)), publish("a", "/1", multiWriter), codes.FailedPrecondition},
		{"neither stage nor attach", Options{Stage: off(), Attach: off()}, steps(create(multiWriter)), publish("a", "/1", multiWriter), codes.OK},
		{"no staging path", Options{}, ready(multiWriter), publish("a", "/1", multiWriter, func(r *csi.NodePublishVolumeRequest) { r.StagingTargetPath = "" }), codes.FailedPrecondition},
		{"a target is required", Options{}, ready(multiWriter), publish("a", "", multiWriter), codes.InvalidArgument},
		{"unknown volume", Options{}, nil, publish("a", "/1", multiWriter), codes.NotFound},
		{"an inline volume", Options{Ephemeral: true}, nil, publish("a", "/1", multiWriter, inlineVolume), codes.OK},
		{"an inline volume goes", Options{Ephemeral: true}, steps(publish("a", "/1", multiWriter, inlineVolume), unpublish("a", "/1")), unpublish("a", "/1"), codes.OK},
		{"unpublish", Options{}, published(multiWriter), unpublish("a", "/1"), codes.OK},
		{"unpublish twice", Options{}, append(published(multiWriter), unpublish("a", "/1")), unpublish("a", "/1"), codes.OK},
		{"unpublish of an unknown volume", Options{}, nil, unpublish("a", "/1"), codes.NotFound},
	})
}

// The test follows CSI "ControllerExpandVolume Errors", "NodeExpandVolume Errors",
// "ControllerModifyVolume Errors", "NodeGetVolumeStats Errors".
func TestExpandModifyStats(t *testing.T) {
	all := everything()
	all.Topology = false
	offline := Options{ControllerExpand: true, OfflineExpand: true}
	used := steps(create(multiWriter), attach("a", multiWriter), stage("a", multiWriter))
	checkRPC(t, []rpcCase{
		{"expand", all, used, expand(1<<21, 0), codes.OK},
		{"big enough already", all, used, expand(1, 0), codes.OK},
		{"more than the limit already", all, used, expand(1, 2), codes.OutOfRange},
		{"more than the pool", Options{ControllerExpand: true, CapacityBytes: 1 << 20}, used, expand(1<<21, 0), codes.OutOfRange},
		{"a range is required", all, used, expand(0, 0), codes.InvalidArgument},
		{"unknown volume", all, nil, expand(1, 0), codes.NotFound},
		{"offline only", offline, used, expand(1<<21, 0), codes.FailedPrecondition},
		{"offline", offline, steps(create(multiWriter)), expand(1<<21, 0), codes.OK},
		{"no expand capability", Options{}, used, expand(1<<21, 0), codes.Unimplemented},
		{"node expand after the controller", all, append(used, expand(1<<21, 0)), nodeExpand(staging, 1<<21), codes.OK},
		{"node expand before the controller", all, used, nodeExpand(staging, 1<<21), codes.OutOfRange},
		{"node expand alone", Options{NodeExpand: true}, used, nodeExpand(staging, 1<<21), codes.OK},
		{"node expand where nothing is", all, used, nodeExpand("/nowhere", 1<<20), codes.NotFound},
		{"modify", all, used, modify("iops"), codes.OK},
		{"modify an unknown key", Options{ModifyVolume: true, MutableParameters: []string{"iops"}}, used, modify("colour"), codes.InvalidArgument},
		{"modify an unknown volume", all, nil, modify("iops"), codes.NotFound},
		{"no modify capability", Options{}, used, modify("iops"), codes.Unimplemented},
		{"stats", all, used, stats(staging), codes.OK},
		{"stats where nothing is", all, used, stats("/nowhere"), codes.NotFound},
		{"no stats capability", Options{}, used, stats(staging), codes.Unimplemented},
	})
}

// CSI "ListVolumes Errors", "CreateSnapshot Errors", "ListSnapshots Errors".
func TestListsAndSnapshots(t *testing.T) {
	all := everything()
	two := steps(create(multiWriter), create(multiWriter, named("other")))
	checkRPC(t, []rpcCase{
		{"a page", all, two, list(1, ""), codes.OK},
		{"the next page", all, two, list(1, "1"), codes.OK},
		{"no page token", all, two, list(1, "nonsense"), codes.Aborted},
		{"negative max_entries", all, two, list(-1, ""), codes.InvalidArgument},
		{"no list capability", Options{}, nil, list(0, ""), codes.Unimplemented},
		{"a snapshot", all, two, snapshotOf("s", "vol-0001"), codes.OK},
		{"again", all, append(two, snapshotOf("s", "vol-0001")), snapshotOf("s", "vol-0001"), codes.OK},
		{"of another volume", all, append(two, snapshotOf("s", "vol-0001")), snapshotOf("s", "vol-0002"), codes.AlreadyExists},
		{"of an unknown volume", all, nil, snapshotOf("s", "vol-0001"), codes.NotFound},
		{"a source is required", all, nil, snapshotOf("s", ""), codes.InvalidArgument},
		{"no snapshot capability", Options{}, two, snapshotOf("s", "vol-0001"), codes.Unimplemented},
		{"snapshots listed", all, append(two, snapshotOf("s", "vol-0001")), listSnapshots(1, ""), codes.OK},
		{"no snapshot page token", all, two, listSnapshots(1, "7"), codes.Aborted},
	})
}

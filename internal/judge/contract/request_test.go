package contract

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
)

func mounted(mode csi.VolumeCapability_AccessMode_Mode, m *csi.VolumeCapability_MountVolume) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Mount{Mount: m},
	}
}

func edited[M proto.Message](m M, edit func(M)) M {
	c := proto.CloneOf(m)
	edit(c)
	return c
}

// CSI Controller Service: the fields of csisim's requests, and the capabilities that they require.
func TestControllerRequests(t *testing.T) {
	const publish, create, expand = "Controller/ControllerPublishVolume", "Controller/CreateVolume", "Controller/ControllerExpandVolume"
	all := caps("CONTROLLER_SERVICE", "CREATE_DELETE_VOLUME PUBLISH_UNPUBLISH_VOLUME EXPAND_VOLUME MODIFY_VOLUME LIST_VOLUMES", "")
	writer := mounted(csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, &csi.VolumeCapability_MountVolume{})
	goodCreate := &csi.CreateVolumeRequest{Name: "pvc", VolumeCapabilities: []*csi.VolumeCapability{writer}}
	badCreate := func(edit func(*csi.CreateVolumeRequest)) proto.Message { return edited(goodCreate, edit) }
	goodPublish := &csi.ControllerPublishVolumeRequest{VolumeId: "v", NodeId: "n", VolumeCapability: writer}
	badPublish := func(edit func(*csi.ControllerPublishVolumeRequest)) proto.Message { return edited(goodPublish, edit) }
	goodExpand := &csi.ControllerExpandVolumeRequest{VolumeId: "v", CapacityRange: &csi.CapacityRange{RequiredBytes: 1}}
	name := func(n string) proto.Message { return badCreate(func(r *csi.CreateVolumeRequest) { r.Name = n }) }
	size := func(low, high int64) proto.Message {
		return badCreate(func(r *csi.CreateVolumeRequest) {
			r.CapacityRange = &csi.CapacityRange{RequiredBytes: low, LimitBytes: high}
		})
	}
	flags := func(n int) proto.Message {
		return badPublish(func(r *csi.ControllerPublishVolumeRequest) {
			r.VolumeCapability = mounted(1, &csi.VolumeCapability_MountVolume{MountFlags: []string{strings.Repeat("f", n/2), strings.Repeat("f", n/2)}})
		})
	}
	checkRequests(t, []example{
		{rule: "a name is required", method: create, caps: all, good: goodCreate, bad: name(""), field: "CreateVolumeRequest.name"},
		{rule: "a name of 128 bytes", method: create, caps: all, good: name(strings.Repeat("n", 128)), bad: name(strings.Repeat("n", 129)), field: "CreateVolumeRequest.name"},
		{rule: "no control characters", method: create, caps: all, good: name("a\tb"), bad: name("a\x01b"), field: "CreateVolumeRequest.name"},
		{rule: "capabilities are required", method: create, caps: all, good: goodCreate, bad: badCreate(func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities = nil }), field: "CreateVolumeRequest.volume_capabilities"},
		{rule: "an access mode is required", method: create, caps: all, good: goodCreate,
			bad: badCreate(func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities[0].AccessMode = nil }), field: "CreateVolumeRequest.volume_capabilities.access_mode"},
		{rule: "an access type is required", method: create, caps: all, good: goodCreate,
			bad: badCreate(func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities[0].AccessType = nil }), field: "CreateVolumeRequest.volume_capabilities.access_type"},
		{rule: "the new modes need SINGLE_NODE_MULTI_WRITER", method: create, caps: all, good: goodCreate,
			bad: badCreate(func(r *csi.CreateVolumeRequest) {
				r.VolumeCapabilities[0].AccessMode.Mode = csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER
			}), field: "CreateVolumeRequest.volume_capabilities.access_mode"},
		{rule: "size not negative", method: create, caps: all, good: size(1, 0), bad: size(-1, 0), field: "CreateVolumeRequest.capacity_range.required_bytes"},
		{rule: "a size or none", method: create, caps: all, good: size(0, 1), bad: size(0, 0), field: "CreateVolumeRequest.capacity_range"},
		{rule: "required within limit", method: create, caps: all, good: size(2, 2), bad: size(2, 1), field: "CreateVolumeRequest.capacity_range"},
		{rule: "snapshots need the capability", method: create, caps: all, good: goodCreate, bad: badCreate(func(r *csi.CreateVolumeRequest) { r.VolumeContentSource = snapshotSource("s") }), field: "CreateVolumeRequest.volume_content_source"},
		{rule: "topology needs the capability", method: create, caps: all, good: goodCreate, bad: badCreate(func(r *csi.CreateVolumeRequest) {
			r.AccessibilityRequirements = &csi.TopologyRequirement{Requisite: []*csi.Topology{topology("zone", "a")}}
		}), field: "CreateVolumeRequest.accessibility_requirements"},
		{rule: "preferred is among requisite", method: create, good: goodCreate, bad: badCreate(func(r *csi.CreateVolumeRequest) {
			r.AccessibilityRequirements = &csi.TopologyRequirement{Requisite: []*csi.Topology{topology("zone", "a")}, Preferred: []*csi.Topology{topology("zone", "b")}}
		}), field: "CreateVolumeRequest.accessibility_requirements.preferred"},
		{rule: "mutable parameters need the capability", method: create, caps: caps("", "CREATE_DELETE_VOLUME", ""), good: goodCreate,
			bad: badCreate(func(r *csi.CreateVolumeRequest) { r.MutableParameters = map[string]string{"iops": "1"} }), field: "CreateVolumeRequest.mutable_parameters"},
		{rule: "a volume is required", method: publish, caps: all, good: goodPublish, bad: badPublish(func(r *csi.ControllerPublishVolumeRequest) { r.VolumeId = "" }), field: "ControllerPublishVolumeRequest.volume_id"},
		{rule: "a node is required", method: publish, caps: all, good: goodPublish, bad: badPublish(func(r *csi.ControllerPublishVolumeRequest) { r.NodeId = "" }), field: "ControllerPublishVolumeRequest.node_id"},
		{rule: "readonly needs the capability", method: publish, caps: all, good: goodPublish, bad: badPublish(func(r *csi.ControllerPublishVolumeRequest) { r.Readonly = true }), field: "ControllerPublishVolumeRequest.readonly"},
		{rule: "mount flags of 4 KiB", method: publish, caps: all, good: flags(4096), bad: flags(4098), field: "ControllerPublishVolumeRequest.volume_capability.mount.mount_flags"},
		{rule: "a range is required", method: expand, caps: all, good: goodExpand, bad: &csi.ControllerExpandVolumeRequest{VolumeId: "v"}, field: "ControllerExpandVolumeRequest.capacity_range"},
		{rule: "mutable parameters are required", method: "Controller/ControllerModifyVolume", caps: all, good: &csi.ControllerModifyVolumeRequest{VolumeId: "v", MutableParameters: map[string]string{"a": "b"}},
			bad: &csi.ControllerModifyVolumeRequest{VolumeId: "v"}, field: "ControllerModifyVolumeRequest.mutable_parameters"},
		{rule: "max_entries not negative", method: "Controller/ListVolumes", caps: all, good: &csi.ListVolumesRequest{MaxEntries: 1}, bad: &csi.ListVolumesRequest{MaxEntries: -1}, field: "ListVolumesRequest.max_entries"},
	})
}

func TestCallsNeedTheirCapability(t *testing.T) {
	remove, stage := &csi.DeleteVolumeRequest{VolumeId: "v"}, &csi.NodeUnstageVolumeRequest{VolumeId: "v", StagingTargetPath: "/s"}
	assert.Empty(t, CheckRequest("Controller/DeleteVolume", remove, caps("", "CREATE_DELETE_VOLUME", "")))
	assert.Len(t, CheckRequest("Controller/DeleteVolume", remove, caps("", "", "")), 1)
	assert.Empty(t, CheckRequest("Node/NodeUnstageVolume", stage, caps("", "", "STAGE_UNSTAGE_VOLUME")))
	assert.Len(t, CheckRequest("Node/NodeUnstageVolume", stage, caps("", "", "")), 1)
	assert.Empty(t, CheckRequest("Controller/DeleteVolume", remove, nil), "not asked yet")
}

// CSI Node Service.
func TestNodeRequests(t *testing.T) {
	const stage, publish = "Node/NodeStageVolume", "Node/NodePublishVolume"
	all := caps("", "", "STAGE_UNSTAGE_VOLUME GET_VOLUME_STATS EXPAND_VOLUME")
	writer := mounted(csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, &csi.VolumeCapability_MountVolume{})
	goodStage := &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: "/" + strings.Repeat("p", 200), VolumeCapability: writer}
	badStage := func(edit func(*csi.NodeStageVolumeRequest)) proto.Message { return edited(goodStage, edit) }
	goodPublish := &csi.NodePublishVolumeRequest{VolumeId: "v", StagingTargetPath: "/s", TargetPath: "/t", VolumeCapability: writer}
	badPublish := func(edit func(*csi.NodePublishVolumeRequest)) proto.Message { return edited(goodPublish, edit) }
	inlinePublish := badPublish(func(r *csi.NodePublishVolumeRequest) {
		r.StagingTargetPath, r.VolumeContext = "", map[string]string{inline: "true"}
	})
	checkRequests(t, []example{
		{rule: "a volume is required", method: stage, caps: all, good: goodStage, bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.VolumeId = "" }), field: "NodeStageVolumeRequest.volume_id"},
		{rule: "a staging path is required", method: stage, caps: all, good: goodStage, bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "" }), field: "NodeStageVolumeRequest.staging_target_path"},
		{rule: "an absolute path", method: stage, caps: all, good: goodStage, bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.StagingTargetPath = "s" }), field: "NodeStageVolumeRequest.staging_target_path"},
		{rule: "a capability is required", method: stage, caps: all, good: goodStage, bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability = nil }), field: "NodeStageVolumeRequest.volume_capability"},
		{rule: "publish context only of a driver that attaches", method: stage, caps: all, good: goodStage,
			bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.PublishContext = map[string]string{"a": "b"} }), field: "NodeStageVolumeRequest.publish_context"},
		{rule: "mount group needs the capability", method: stage, caps: all, good: goodStage, bad: badStage(func(r *csi.NodeStageVolumeRequest) { r.VolumeCapability.GetMount().VolumeMountGroup = "1" }),
			field: "NodeStageVolumeRequest.volume_capability.mount.volume_mount_group"},
		{rule: "a target is required", method: publish, caps: all, good: goodPublish, bad: badPublish(func(r *csi.NodePublishVolumeRequest) { r.TargetPath = "" }), field: "NodePublishVolumeRequest.target_path"},
		// K-PUB-4, K-PATH-7.
		{rule: "an inline volume of a driver without podInfoOnMount", method: publish, caps: all,
			good: badPublish(func(r *csi.NodePublishVolumeRequest) {
				r.VolumeId, r.StagingTargetPath = "csi-"+strings.Repeat("0123456789abcdef", 4), ""
			}),
			bad:   badPublish(func(r *csi.NodePublishVolumeRequest) { r.VolumeId, r.StagingTargetPath = "csi-0123", "" }),
			field: "NodePublishVolumeRequest.staging_target_path"},
		{rule: "the staging path of a driver that stages, inline volumes aside", method: publish, caps: all, good: inlinePublish,
			bad: badPublish(func(r *csi.NodePublishVolumeRequest) { r.StagingTargetPath = "" }), field: "NodePublishVolumeRequest.staging_target_path"},
		{rule: "unstage names a path", method: "Node/NodeUnstageVolume", caps: all, good: &csi.NodeUnstageVolumeRequest{VolumeId: "v", StagingTargetPath: "/s"},
			bad: &csi.NodeUnstageVolumeRequest{VolumeId: "v"}, field: "NodeUnstageVolumeRequest.staging_target_path"},
		{rule: "unpublish names a target", method: "Node/NodeUnpublishVolume", caps: all, good: &csi.NodeUnpublishVolumeRequest{VolumeId: "v", TargetPath: "/t"},
			bad: &csi.NodeUnpublishVolumeRequest{VolumeId: "v"}, field: "NodeUnpublishVolumeRequest.target_path"},
		{rule: "stats name a path", method: "Node/NodeGetVolumeStats", caps: all, good: &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: "/t"},
			bad: &csi.NodeGetVolumeStatsRequest{VolumeId: "v"}, field: "NodeGetVolumeStatsRequest.volume_path"},
		{rule: "a staging path only of a driver that stages", method: "Node/NodeGetVolumeStats", caps: caps("", "", "GET_VOLUME_STATS"), good: &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: "/t"},
			bad: &csi.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: "/t", StagingTargetPath: "/s"}, field: "NodeGetVolumeStatsRequest.staging_target_path"},
		// K-EXP-8
		{rule: "a staging path of any driver that expands", method: "Node/NodeExpandVolume", caps: caps("", "", "EXPAND_VOLUME"), good: &csi.NodeExpandVolumeRequest{VolumeId: "v", VolumePath: "/t", StagingTargetPath: "/s"},
			bad: &csi.NodeExpandVolumeRequest{VolumeId: "v", VolumePath: "/t", StagingTargetPath: "s"}, field: "NodeExpandVolumeRequest.staging_target_path"},
	})
}

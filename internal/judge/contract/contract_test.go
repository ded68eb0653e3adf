package contract

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// example is one check: a message that passes, and another one with exactly one wrong field.
type example struct {
	rule      string
	method    string
	req       proto.Message // the request of a checked response
	caps      *Caps
	good, bad proto.Message
	field     string // the wrong field of the bad message
}

func caps(plugin, controller, node string) *Caps {
	set := func(names string) Set {
		if names == "?" {
			return nil
		}
		return strings.Fields(names)
	}
	return &Caps{Plugin: set(plugin), Controller: set(controller), Node: set(node)}
}

func checkExamples(t *testing.T, examples []example, check func(e example, m proto.Message) []verdict.Verdict) {
	for _, e := range examples {
		t.Run(e.rule, func(t *testing.T) {
			require.NotNil(t, e.good)
			require.NotNil(t, e.bad)
			assert.Empty(t, check(e, e.good))
			var fields []string
			for _, v := range check(e, e.bad) {
				fields = append(fields, v.Field)
				assert.Equal(t, e.method, v.Method)
			}
			assert.Equal(t, []string{e.field}, fields)
		})
	}
}

func checkResponses(t *testing.T, examples []example) {
	checkExamples(t, examples, func(e example, m proto.Message) []verdict.Verdict {
		return CheckResponse(e.method, e.req, m, e.caps)
	})
}

func checkRequests(t *testing.T, examples []example) {
	checkExamples(t, examples, func(e example, m proto.Message) []verdict.Verdict {
		return CheckRequest(e.method, m, e.caps)
	})
}

func TestViolationIsOneLine(t *testing.T) {
	got := CheckResponse("Controller/CreateVolume", nil, &csi.CreateVolumeResponse{Volume: &csi.Volume{}}, nil)
	require.Len(t, got, 1)
	assert.Equal(t, "CreateVolumeResponse.volume.volume_id is empty: the CSI spec requires it (CreateVolume)", got[0].String())
}

func TestAMissingMessageBreaksNoRule(t *testing.T) {
	assert.Empty(t, CheckResponse("Controller/CreateVolume", nil, nil, nil))
	assert.Empty(t, CheckResponse("Controller/CreateVolume", nil, (*csi.CreateVolumeResponse)(nil), nil))
	assert.Empty(t, CheckRequest("Controller/CreateVolume", nil, nil))
}

// CSI "GetPluginInfo", "GetPluginCapabilities".
func TestIdentityAnswers(t *testing.T) {
	info := func(name, version string) proto.Message {
		return &csi.GetPluginInfoResponse{Name: name, VendorVersion: version}
	}
	expansion := func(ty csi.PluginCapability_VolumeExpansion_Type) proto.Message {
		return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{Type: &csi.PluginCapability_VolumeExpansion_{
			VolumeExpansion: &csi.PluginCapability_VolumeExpansion{Type: ty}}}}}
	}
	const pluginInfo, pluginCaps = "Identity/GetPluginInfo", "Identity/GetPluginCapabilities"
	checkResponses(t, []example{
		{rule: "a name is required", method: pluginInfo, good: info("a.b", "1"), bad: info("", "1"), field: "GetPluginInfoResponse.name"},
		{rule: "a version is required", method: pluginInfo, good: info("a.b", "1"), bad: info("a.b", ""), field: "GetPluginInfoResponse.vendor_version"},
		{rule: "63 characters at most", method: pluginInfo, good: info(strings.Repeat("a", 63), "1"), bad: info(strings.Repeat("a", 64), "1"), field: "GetPluginInfoResponse.name"},
		{rule: "no underscore", method: pluginInfo, good: info("A-1.b", "1"), bad: info("a_b", "1"), field: "GetPluginInfoResponse.name"},
		{rule: "no empty label", method: pluginInfo, good: info("a.b", "1"), bad: info("a..b", "1"), field: "GetPluginInfoResponse.name"},
		{rule: "no dash at the end", method: pluginInfo, good: info("a-b", "1"), bad: info("ab-", "1"), field: "GetPluginInfoResponse.name"},
		{rule: "OFFLINE needs EXPAND_VOLUME of the controller", method: pluginCaps, caps: caps("?", "", "EXPAND_VOLUME"),
			good: expansion(csi.PluginCapability_VolumeExpansion_ONLINE), bad: expansion(csi.PluginCapability_VolumeExpansion_OFFLINE),
			field: "GetPluginCapabilitiesResponse.capabilities"},
	})
	assert.NotEmpty(t, CheckResponse(pluginCaps, nil, expansion(csi.PluginCapability_VolumeExpansion_ONLINE), caps("?", "", "")))
	assert.Empty(t, CheckResponse("Identity/Probe", nil, &csi.ProbeResponse{Ready: wrapperspb.Bool(false)}, nil))
}

func controllerCaps(types ...csi.ControllerServiceCapability_RPC_Type) proto.Message {
	r := &csi.ControllerGetCapabilitiesResponse{}
	for _, ty := range types {
		r.Capabilities = append(r.Capabilities, &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{
			Rpc: &csi.ControllerServiceCapability_RPC{Type: ty}}})
	}
	return r
}

// CSI "ControllerGetCapabilities".
func TestControllerPromises(t *testing.T) {
	const (
		method    = "Controller/ControllerGetCapabilities"
		field     = "ControllerGetCapabilitiesResponse.capabilities"
		publish   = csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME
		list      = csi.ControllerServiceCapability_RPC_LIST_VOLUMES
		nodes     = csi.ControllerServiceCapability_RPC_LIST_VOLUMES_PUBLISHED_NODES
		readonly  = csi.ControllerServiceCapability_RPC_PUBLISH_READONLY
		getHealth = csi.ControllerServiceCapability_RPC_GET_VOLUME_HEALTH
		health    = csi.ControllerServiceCapability_RPC_LIST_VOLUME_HEALTH
	)
	checkResponses(t, []example{
		{rule: "published nodes need publish", method: method, good: controllerCaps(publish, list, nodes), bad: controllerCaps(list, nodes), field: field},
		{rule: "published nodes need a list", method: method, good: controllerCaps(publish, list, nodes), bad: controllerCaps(publish, nodes), field: field},
		{rule: "readonly needs publish", method: method, good: controllerCaps(publish, readonly), bad: controllerCaps(readonly), field: field},
		{rule: "list health needs get health", method: method, good: controllerCaps(getHealth, health), bad: controllerCaps(health), field: field},
		{rule: "OFFLINE needs EXPAND_VOLUME", method: method, caps: caps("CONTROLLER_SERVICE OFFLINE", "?", "?"),
			good: controllerCaps(csi.ControllerServiceCapability_RPC_EXPAND_VOLUME), bad: controllerCaps(list), field: field},
	})
	assert.NotEmpty(t, CheckResponse(method, nil, controllerCaps(list), caps("", "?", "?")), "no CONTROLLER_SERVICE")
}

func snapshotSource(id string) *csi.VolumeContentSource {
	return &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: id}}}
}

func topology(key, value string) *csi.Topology {
	return &csi.Topology{Segments: map[string]string{key: value}}
}

// CSI "CreateVolume".
func TestCreateVolumeAnswers(t *testing.T) {
	req := &csi.CreateVolumeRequest{CapacityRange: &csi.CapacityRange{RequiredBytes: 10, LimitBytes: 20}}
	fromSnapshot := &csi.CreateVolumeRequest{VolumeContentSource: snapshotSource("s")}
	inZone := &csi.CreateVolumeRequest{AccessibilityRequirements: &csi.TopologyRequirement{Requisite: []*csi.Topology{topology("zone", "a")}}}
	answer := func(v *csi.Volume) proto.Message { return &csi.CreateVolumeResponse{Volume: v} }
	at := func(tops ...*csi.Topology) proto.Message {
		return answer(&csi.Volume{VolumeId: "v", AccessibleTopology: tops})
	}
	good := answer(&csi.Volume{VolumeId: "v", CapacityBytes: 10})
	const method, volume = "Controller/CreateVolume", "CreateVolumeResponse.volume"
	const segments = volume + ".accessible_topology.segments"
	checkResponses(t, []example{
		{rule: "a volume is required", method: method, good: good, bad: answer(nil), field: volume},
		{rule: "an id is required", method: method, good: good, bad: answer(&csi.Volume{}), field: volume + ".volume_id"},
		{rule: "id of 128 bytes", method: method, good: answer(&csi.Volume{VolumeId: strings.Repeat("v", 128)}), bad: answer(&csi.Volume{VolumeId: strings.Repeat("v", 129)}), field: volume + ".volume_id"},
		{rule: "context of 4 KiB", method: method, good: answer(&csi.Volume{VolumeId: "v", VolumeContext: map[string]string{"k": strings.Repeat("x", 4095)}}),
			bad: answer(&csi.Volume{VolumeId: "v", VolumeContext: map[string]string{"k": strings.Repeat("x", 4096)}}), field: volume + ".volume_context"},
		{rule: "capacity not negative", method: method, good: good, bad: answer(&csi.Volume{VolumeId: "v", CapacityBytes: -1}), field: volume + ".capacity_bytes"},
		{rule: "capacity at least required", method: method, req: req, good: good, bad: answer(&csi.Volume{VolumeId: "v", CapacityBytes: 9}), field: volume + ".capacity_bytes"},
		{rule: "capacity at most limit", method: method, req: req, good: good, bad: answer(&csi.Volume{VolumeId: "v", CapacityBytes: 21}), field: volume + ".capacity_bytes"},
		{rule: "unknown capacity is allowed", method: method, req: req, good: answer(&csi.Volume{VolumeId: "v"}), bad: answer(nil), field: volume},
		{rule: "source is echoed", method: method, req: fromSnapshot, good: answer(&csi.Volume{VolumeId: "v", ContentSource: snapshotSource("s")}), bad: good, field: volume + ".content_source"},
		{rule: "no source unless asked for", method: method, req: req, good: good, bad: answer(&csi.Volume{VolumeId: "v", ContentSource: snapshotSource("s")}), field: volume + ".content_source"},
		{rule: "topology only if promised", method: method, caps: caps("", "", ""), good: good, bad: at(topology("zone", "a")), field: volume + ".accessible_topology"},
		{rule: "one of the requisite topologies", method: method, req: inZone, good: at(topology("zone", "a")), bad: at(topology("zone", "b")), field: volume + ".accessible_topology"},
		{rule: "key name", method: method, good: at(topology("ex.com/zone", "a")), bad: at(topology("ex.com/-zone", "a")), field: segments},
		{rule: "key prefix", method: method, good: at(topology("ex.com/zone", "a")), bad: at(topology("Ex.com/zone", "a")), field: segments},
		{rule: "value of 63 characters", method: method, good: at(topology("zone", strings.Repeat("a", 63))), bad: at(topology("zone", strings.Repeat("a", 64))), field: segments},
		{rule: "no key twice by case", method: method, good: at(&csi.Topology{Segments: map[string]string{"zone": "a", "rack": "a"}}),
			bad: at(&csi.Topology{Segments: map[string]string{"zone": "a", "Zone": "a"}}), field: segments},
		{rule: "segments are required", method: method, good: at(topology("zone", "a")), bad: at(&csi.Topology{}), field: segments},
	})
}

// CSI "ControllerPublishVolume", "ValidateVolumeCapabilities", "ControllerExpandVolume",
// "GetCapacity".
func TestControllerAnswers(t *testing.T) {
	block := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	confirmed := func(list ...*csi.VolumeCapability) proto.Message {
		return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: list}}
	}
	expanded := func(bytes int64, node bool) proto.Message {
		return &csi.ControllerExpandVolumeResponse{CapacityBytes: bytes, NodeExpansionRequired: node}
	}
	expand := &csi.ControllerExpandVolumeRequest{CapacityRange: &csi.CapacityRange{RequiredBytes: 10, LimitBytes: 20}}
	publish := func(size int) proto.Message {
		return &csi.ControllerPublishVolumeResponse{PublishContext: map[string]string{"k": strings.Repeat("x", size-1)}}
	}
	const expandMethod, capacity = "Controller/ControllerExpandVolume", "ControllerExpandVolumeResponse.capacity_bytes"
	checkResponses(t, []example{
		{rule: "publish context of 4 KiB", method: "Controller/ControllerPublishVolume", good: publish(4096), bad: publish(4097), field: "ControllerPublishVolumeResponse.publish_context"},
		{rule: "all asked for are confirmed", method: "Controller/ValidateVolumeCapabilities", req: &csi.ValidateVolumeCapabilitiesRequest{VolumeCapabilities: []*csi.VolumeCapability{block}},
			good: confirmed(block), bad: confirmed(&csi.VolumeCapability{}), field: "ValidateVolumeCapabilitiesResponse.confirmed.volume_capabilities"},
		{rule: "confirmed is not empty", method: "Controller/ValidateVolumeCapabilities", good: &csi.ValidateVolumeCapabilitiesResponse{Message: "no"}, bad: confirmed(), field: "ValidateVolumeCapabilitiesResponse.confirmed.volume_capabilities"},
		{rule: "expanded size is required", method: expandMethod, good: expanded(1, false), bad: expanded(0, false), field: capacity},
		{rule: "expanded at least required", method: expandMethod, req: expand, good: expanded(10, false), bad: expanded(9, false), field: capacity},
		{rule: "expanded at most limit", method: expandMethod, req: expand, good: expanded(20, false), bad: expanded(21, false), field: capacity},
		{rule: "node expansion only if promised", method: expandMethod, caps: caps("", "", ""), good: expanded(10, false), bad: expanded(10, true), field: "ControllerExpandVolumeResponse.node_expansion_required"},
		{rule: "available capacity not negative", method: "Controller/GetCapacity", good: &csi.GetCapacityResponse{}, bad: &csi.GetCapacityResponse{AvailableCapacity: -1}, field: "GetCapacityResponse.available_capacity"},
		{rule: "maximum size not negative", method: "Controller/GetCapacity", good: &csi.GetCapacityResponse{MaximumVolumeSize: wrapperspb.Int64(1)}, bad: &csi.GetCapacityResponse{MaximumVolumeSize: wrapperspb.Int64(-1)}, field: "GetCapacityResponse.maximum_volume_size"},
	})
}

func withCondition[M proto.Message](m M, c VolumeCondition) M {
	c.Put(m)
	return m
}

// CSI "ListVolumes", "ControllerGetVolume", "ControllerListVolumeHealth".
func TestListAnswers(t *testing.T) {
	volumes := func(next string, ids ...string) proto.Message {
		r := &csi.ListVolumesResponse{NextToken: next}
		for _, id := range ids {
			r.Entries = append(r.Entries, &csi.ListVolumesResponse_Entry{Volume: &csi.Volume{VolumeId: id}})
		}
		return r
	}
	withStatus := func(c *VolumeCondition) proto.Message {
		s := &csi.ListVolumesResponse_VolumeStatus{}
		if c != nil {
			c.Put(s)
		}
		return &csi.ListVolumesResponse{Entries: []*csi.ListVolumesResponse_Entry{{Volume: &csi.Volume{VolumeId: "a"}, Status: s}}}
	}
	got := func(id string) proto.Message {
		return &csi.ControllerGetVolumeResponse{Volume: &csi.Volume{VolumeId: id}, Status: &csi.ControllerGetVolumeResponse_VolumeStatus{}}
	}
	ill := func(reasons ...string) proto.Message {
		h := &csi.VolumeHealth{VolumeId: "v"}
		for _, reason := range reasons {
			h.HealthStatuses = append(h.HealthStatuses, &csi.VolumeHealth_VolumeHealthEntry{Status: csi.VolumeHealthErrorType_DEGRADED, Reason: reason})
		}
		return &csi.ControllerListVolumeHealthResponse{Entries: []*csi.VolumeHealth{h}}
	}
	const method, get = "Controller/ListVolumes", "Controller/ControllerGetVolume"
	page := &csi.ListVolumesRequest{MaxEntries: 1, StartingToken: "t"}
	checkResponses(t, []example{
		{rule: "no id twice", method: method, good: volumes("", "a", "b"), bad: volumes("", "a", "a"), field: "ListVolumesResponse.entries"},
		{rule: "max_entries", method: method, req: page, good: volumes("u", "a"), bad: volumes("u", "a", "b"), field: "ListVolumesResponse.entries"},
		{rule: "ids are required", method: method, good: volumes("", "a"), bad: volumes("", ""), field: "ListVolumesResponse.entries.volume.volume_id"},
		{rule: "status with LIST_VOLUMES_PUBLISHED_NODES", method: method, caps: caps("", "LIST_VOLUMES LIST_VOLUMES_PUBLISHED_NODES", ""),
			good: withStatus(nil), bad: volumes("", "a"), field: "ListVolumesResponse.entries.status"},
		{rule: "an abnormal condition has a message", method: method, good: withStatus(&VolumeCondition{Abnormal: true, Message: "broken"}),
			bad: withStatus(&VolumeCondition{Abnormal: true}), field: "ListVolumesResponse.entries.status.volume_condition.message"},
		{rule: "a condition only if promised", method: method, caps: caps("", "LIST_VOLUMES", ""), good: withStatus(nil),
			bad: withStatus(&VolumeCondition{Message: "well"}), field: "ListVolumesResponse.entries.status.volume_condition"},
		{rule: "the volume asked for", method: get, req: &csi.ControllerGetVolumeRequest{VolumeId: "a"}, good: got("a"), bad: got("b"), field: "ControllerGetVolumeResponse.volume.volume_id"},
		{rule: "a status is required", method: get, good: got("a"), bad: &csi.ControllerGetVolumeResponse{Volume: &csi.Volume{VolumeId: "a"}}, field: "ControllerGetVolumeResponse.status"},
		{rule: "a health reason is required", method: "Controller/ControllerListVolumeHealth", good: ill("Slow"), bad: ill(""), field: "ControllerListVolumeHealthResponse.entries.health_statuses.reason"},
		{rule: "a health status once", method: "Controller/ControllerListVolumeHealth", good: ill("Slow", "Hot"), bad: ill("Slow", "Slow"), field: "ControllerListVolumeHealthResponse.entries.health_statuses"},
	})
}

// CSI "CreateSnapshot", "ListSnapshots", "GetSnapshot".
func TestSnapshotAnswers(t *testing.T) {
	snap := func(edit func(*csi.Snapshot)) *csi.Snapshot {
		s := &csi.Snapshot{SnapshotId: "s", SourceVolumeId: "v", CreationTime: &timestamppb.Timestamp{Seconds: 1}}
		edit(s)
		return s
	}
	created := func(edit func(*csi.Snapshot)) proto.Message { return &csi.CreateSnapshotResponse{Snapshot: snap(edit)} }
	good := created(func(*csi.Snapshot) {})
	listed := func(snaps ...*csi.Snapshot) proto.Message {
		r := &csi.ListSnapshotsResponse{}
		for _, s := range snaps {
			r.Entries = append(r.Entries, &csi.ListSnapshotsResponse_Entry{Snapshot: s})
		}
		return r
	}
	one := snap(func(*csi.Snapshot) {})
	const method, field = "Controller/CreateSnapshot", "CreateSnapshotResponse.snapshot"
	checkResponses(t, []example{
		{rule: "a snapshot is required", method: method, good: good, bad: &csi.CreateSnapshotResponse{}, field: field},
		{rule: "an id is required", method: method, good: good, bad: created(func(s *csi.Snapshot) { s.SnapshotId = "" }), field: field + ".snapshot_id"},
		{rule: "a source is required", method: method, good: good, bad: created(func(s *csi.Snapshot) { s.SourceVolumeId = "" }), field: field + ".source_volume_id"},
		{rule: "the source asked for", method: method, req: &csi.CreateSnapshotRequest{SourceVolumeId: "v"}, good: good, bad: created(func(s *csi.Snapshot) { s.SourceVolumeId = "w" }), field: field + ".source_volume_id"},
		{rule: "a time is required", method: method, good: good, bad: created(func(s *csi.Snapshot) { s.CreationTime = nil }), field: field + ".creation_time"},
		{rule: "a valid time", method: method, good: good, bad: created(func(s *csi.Snapshot) { s.CreationTime.Nanos = -1 }), field: field + ".creation_time"},
		{rule: "size not negative", method: method, good: good, bad: created(func(s *csi.Snapshot) { s.SizeBytes = -1 }), field: field + ".size_bytes"},
		{rule: "no id twice", method: "Controller/ListSnapshots", good: listed(one), bad: listed(one, one), field: "ListSnapshotsResponse.entries"},
		{rule: "the source that was filtered for", method: "Controller/ListSnapshots", req: &csi.ListSnapshotsRequest{SourceVolumeId: "v"}, good: listed(one),
			bad: listed(snap(func(s *csi.Snapshot) { s.SourceVolumeId = "w" })), field: "ListSnapshotsResponse.entries.snapshot.source_volume_id"},
		{rule: "the snapshot asked for", method: "Controller/GetSnapshot", req: &csi.GetSnapshotRequest{SnapshotId: "s"}, good: &csi.GetSnapshotResponse{Snapshot: one},
			bad: &csi.GetSnapshotResponse{Snapshot: snap(func(s *csi.Snapshot) { s.SnapshotId = "t" })}, field: "GetSnapshotResponse.snapshot.snapshot_id"},
	})
}

// CSI "NodeGetInfo", "NodeGetCapabilities", "NodeGetVolumeStats", "NodeExpandVolume".
func TestNodeAnswers(t *testing.T) {
	nodeCaps := func(types ...csi.NodeServiceCapability_RPC_Type) proto.Message {
		r := &csi.NodeGetCapabilitiesResponse{}
		for _, ty := range types {
			r.Capabilities = append(r.Capabilities, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: ty}}})
		}
		return r
	}
	info := func(id string, limit int64) proto.Message {
		return &csi.NodeGetInfoResponse{NodeId: id, MaxVolumesPerNode: limit}
	}
	placed := &csi.NodeGetInfoResponse{NodeId: "n", AccessibleTopology: topology("zone", "a")}
	misplaced := &csi.NodeGetInfoResponse{NodeId: "n", AccessibleTopology: topology("zone", "a b")}
	usage := func(unit csi.VolumeUsage_Unit, total, available, used int64) *csi.VolumeUsage {
		return &csi.VolumeUsage{Unit: unit, Total: total, Available: available, Used: used}
	}
	stats := func(u ...*csi.VolumeUsage) *csi.NodeGetVolumeStatsResponse {
		return &csi.NodeGetVolumeStatsResponse{Usage: u}
	}
	bytes := usage(csi.VolumeUsage_BYTES, 3, 2, 1)
	const getInfo, getStats, getCaps = "Node/NodeGetInfo", "Node/NodeGetVolumeStats", "Node/NodeGetCapabilities"
	checkResponses(t, []example{
		{rule: "ONLINE needs EXPAND_VOLUME somewhere", method: getCaps, caps: caps("ONLINE", "", "?"), good: nodeCaps(csi.NodeServiceCapability_RPC_EXPAND_VOLUME),
			bad: nodeCaps(csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME), field: "NodeGetCapabilitiesResponse.capabilities"},
		{rule: "a node id is required", method: getInfo, good: info("n", 0), bad: info("", 0), field: "NodeGetInfoResponse.node_id"},
		{rule: "a node id of 256 bytes", method: getInfo, good: info(strings.Repeat("n", 256), 0), bad: info(strings.Repeat("n", 257), 0), field: "NodeGetInfoResponse.node_id"},
		{rule: "limit not negative", method: getInfo, good: info("n", 7), bad: info("n", -1), field: "NodeGetInfoResponse.max_volumes_per_node"},
		{rule: "topology only if promised", method: getInfo, caps: caps("", "", ""), good: info("n", 0), bad: placed, field: "NodeGetInfoResponse.accessible_topology"},
		{rule: "topology is well formed", method: getInfo, caps: caps("VOLUME_ACCESSIBILITY_CONSTRAINTS", "", ""), good: placed, bad: misplaced, field: "NodeGetInfoResponse.accessible_topology.segments"},
		{rule: "usage", method: getStats, good: stats(bytes), bad: stats(), field: "NodeGetVolumeStatsResponse.usage"},
		{rule: "a condition stands for the usage", method: getStats, good: withCondition(stats(), VolumeCondition{Message: "well"}),
			bad: withCondition(stats(), VolumeCondition{Abnormal: true}), field: "NodeGetVolumeStatsResponse.volume_condition.message"},
		{rule: "a unit is required", method: getStats, good: stats(bytes), bad: stats(usage(0, 1, 1, 0)), field: "NodeGetVolumeStatsResponse.usage.unit"},
		{rule: "a unit once", method: getStats, good: stats(bytes, usage(csi.VolumeUsage_INODES, 1, 1, 0)), bad: stats(bytes, bytes), field: "NodeGetVolumeStatsResponse.usage.unit"},
		{rule: "available not negative", method: getStats, good: stats(bytes), bad: stats(usage(1, 1, -1, 1)), field: "NodeGetVolumeStatsResponse.usage.available"},
		{rule: "total not negative", method: getStats, good: stats(bytes), bad: stats(usage(1, -1, 1, 1)), field: "NodeGetVolumeStatsResponse.usage.total"},
		{rule: "used not negative", method: getStats, good: stats(bytes), bad: stats(usage(1, 1, 1, -1)), field: "NodeGetVolumeStatsResponse.usage.used"},
		{rule: "expanded at least required", method: "Node/NodeExpandVolume", req: &csi.NodeExpandVolumeRequest{CapacityRange: &csi.CapacityRange{RequiredBytes: 5}},
			good: &csi.NodeExpandVolumeResponse{}, bad: &csi.NodeExpandVolumeResponse{CapacityBytes: 4}, field: "NodeExpandVolumeResponse.capacity_bytes"},
		{rule: "health names the volume", method: "Node/NodeGetVolumeHealth", good: &csi.NodeGetVolumeHealthResponse{VolumeHealth: &csi.VolumeHealth{VolumeId: "v"}},
			bad: &csi.NodeGetVolumeHealthResponse{}, field: "NodeGetVolumeHealthResponse.volume_health"},
		{rule: "storage health has a reason", method: "Node/NodeGetStorageHealth", good: &csi.NodeGetStorageHealthResponse{},
			bad:   &csi.NodeGetStorageHealthResponse{BackendHealth: []*csi.NodeGetStorageHealthResponse_StorageBackendHealth{{Status: csi.StorageHealthErrorType_STORAGE_DEGRADED}}},
			field: "NodeGetStorageHealthResponse.backend_health.reason"},
	})
}

// CSI "CreateVolumeGroupSnapshot", "GetVolumeGroupSnapshot".
func TestGroupSnapshotAnswers(t *testing.T) {
	group := func(edit func(*csi.VolumeGroupSnapshot)) *csi.VolumeGroupSnapshot {
		g := &csi.VolumeGroupSnapshot{GroupSnapshotId: "g", CreationTime: &timestamppb.Timestamp{Seconds: 1}, ReadyToUse: true}
		for _, id := range []string{"a", "b"} {
			g.Snapshots = append(g.Snapshots, &csi.Snapshot{SnapshotId: "of-" + id, SourceVolumeId: id, CreationTime: &timestamppb.Timestamp{Seconds: 1}, ReadyToUse: true, GroupSnapshotId: "g"})
		}
		edit(g)
		return g
	}
	created := func(edit func(*csi.VolumeGroupSnapshot)) proto.Message {
		return &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: group(edit)}
	}
	good := created(func(*csi.VolumeGroupSnapshot) {})
	got := func(id string) proto.Message {
		return &csi.GetVolumeGroupSnapshotResponse{GroupSnapshot: group(func(g *csi.VolumeGroupSnapshot) {
			g.GroupSnapshotId = id
			for _, s := range g.Snapshots {
				s.GroupSnapshotId = "" // deletable alone
			}
		})}
	}
	req := &csi.CreateVolumeGroupSnapshotRequest{SourceVolumeIds: []string{"b", "a"}}
	const field = "CreateVolumeGroupSnapshotResponse.group_snapshot"
	checkResponses(t, []example{
		{rule: "a group is required", method: groupCreate, req: req, good: good, bad: &csi.CreateVolumeGroupSnapshotResponse{}, field: field},
		{rule: "an id is required", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) {
			g.GroupSnapshotId = ""
			g.Snapshots[0].GroupSnapshotId, g.Snapshots[1].GroupSnapshotId = "", ""
		}), field: field + ".group_snapshot_id"},
		{rule: "a time is required", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.CreationTime = nil }), field: field + ".creation_time"},
		{rule: "snapshots are required", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots = nil }), field: field + ".snapshots"},
		{rule: "members name their volumes", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots[0].SourceVolumeId = "" }), field: field + ".snapshots.source_volume_id"},
		{rule: "members are snapshots", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots[0].SnapshotId = "" }), field: field + ".snapshots.snapshot_id"},
		{rule: "members know their group", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots[0].GroupSnapshotId = "h" }), field: field + ".snapshots.group_snapshot_id"},
		{rule: "ready when all are", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots[0].ReadyToUse = false }), field: field + ".ready_to_use"},
		{rule: "one of each volume", method: groupCreate, req: req, good: good, bad: created(func(g *csi.VolumeGroupSnapshot) { g.Snapshots = g.Snapshots[:1] }), field: field + ".snapshots"},
		{rule: "the group asked for", method: groupGet, req: &csi.GetVolumeGroupSnapshotRequest{GroupSnapshotId: "g"}, good: got("g"), bad: got("h"),
			field: "GetVolumeGroupSnapshotResponse.group_snapshot.group_snapshot_id"},
		{rule: "a capability has a type", method: groupService + "GroupControllerGetCapabilities",
			good:  &csi.GroupControllerGetCapabilitiesResponse{},
			bad:   &csi.GroupControllerGetCapabilitiesResponse{Capabilities: []*csi.GroupControllerServiceCapability{{}}},
			field: "GroupControllerGetCapabilitiesResponse.capabilities.rpc.type"},
	})
}

// CSI "GroupController": declared services must exist, and no other calls are made.
func TestGroupCallsAreForDriversThatHaveThem(t *testing.T) {
	with := &Caps{Plugin: Set{"GROUP_CONTROLLER_SERVICE"}, Group: Set{groupSnapshots}}
	without := &Caps{Plugin: Set{"GROUP_CONTROLLER_SERVICE"}, Group: Set{}}
	req := &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: "g", SnapshotIds: []string{"s"}}
	assert.Empty(t, CheckRequest(groupDelete, req, with))
	assert.Len(t, CheckRequest(groupDelete, req, without), 1)
	assert.Len(t, CheckRequest(groupDelete, &csi.DeleteVolumeGroupSnapshotRequest{GroupSnapshotId: "g"}, with), 1)
	assert.Len(t, CheckError(groupDelete, req, codes.Unimplemented, with), 1)
	assert.Empty(t, CheckError(groupDelete, req, codes.Unimplemented, without))
	assert.Len(t, CheckError(groupDelete, req, codes.NotFound, with), 1)
}

// CSI "Error Scheme", "DeleteVolume", "DeleteSnapshot".
func TestErrorCodes(t *testing.T) {
	known := caps("CONTROLLER_SERVICE", "CREATE_DELETE_VOLUME PUBLISH_UNPUBLISH_VOLUME", "")
	for _, c := range []struct {
		rule, method string
		good, bad    codes.Code
	}{
		{"promised calls are implemented", "Controller/CreateVolume", codes.Internal, codes.Unimplemented},
		{"calls for every driver are implemented", "Node/NodePublishVolume", codes.Internal, codes.Unimplemented},
		{"NodeGetInfo is needed to attach", "Node/NodeGetInfo", codes.Internal, codes.Unimplemented},
		{"deleting a deleted volume is OK", "Controller/DeleteVolume", codes.FailedPrecondition, codes.NotFound},
		{"codes are canonical", "Controller/CreateVolume", codes.Unauthenticated, codes.Code(17)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			assert.Empty(t, CheckError(c.method, &csi.CreateVolumeRequest{}, c.good, known))
			assert.Len(t, CheckError(c.method, &csi.CreateVolumeRequest{}, c.bad, known), 1)
		})
	}
	assert.Empty(t, CheckError("Node/NodeStageVolume", &csi.NodeStageVolumeRequest{}, codes.Unimplemented, known), "not promised")
	assert.Empty(t, CheckError("Controller/CreateVolume", &csi.CreateVolumeRequest{}, codes.Unimplemented, nil), "not asked yet")
}

func TestCapabilitiesAreLearntFromAnswers(t *testing.T) {
	var c Caps
	c.Learn(controllerCaps(csi.ControllerServiceCapability_RPC_LIST_VOLUMES, 11))
	assert.Equal(t, Set{"LIST_VOLUMES", "VOLUME_CONDITION"}, c.Controller)
	assert.Nil(t, c.Node)
}

func TestVolumeConditionSurvivesTheWire(t *testing.T) {
	want := VolumeCondition{Abnormal: true, Message: "broken"}
	wire, err := proto.Marshal(withCondition(&csi.NodeGetVolumeStatsResponse{}, want))
	require.NoError(t, err)
	var m csi.NodeGetVolumeStatsResponse
	require.NoError(t, proto.Unmarshal(wire, &m))
	got, ok := ConditionOf(&m)
	assert.True(t, ok)
	assert.Equal(t, want, got)
}

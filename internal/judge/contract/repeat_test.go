package contract_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
)

func TestARepeatedCallMustChangeNothingAndGetTheSameAnswer(t *testing.T) {
	volume := func(id string, bytes int64, context map[string]string) proto.Message {
		return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: id, CapacityBytes: bytes, VolumeContext: context}}
	}
	attached := func(context map[string]string) proto.Message {
		return &csi.ControllerPublishVolumeResponse{PublishContext: context}
	}
	answered := func(m proto.Message) contract.Outcome { return contract.Outcome{Answer: m} }
	group := func(snapshots ...*csi.Snapshot) contract.Outcome {
		return answered(&csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: &csi.VolumeGroupSnapshot{GroupSnapshotId: "g", Snapshots: snapshots}})
	}
	one, two := &csi.Snapshot{SnapshotId: "s1", SourceVolumeId: "v1"}, &csi.Snapshot{SnapshotId: "s2", SourceVolumeId: "v2"}
	refused := contract.Outcome{Err: status.Error(codes.Internal, "staged already"), Answer: &csi.NodeStageVolumeResponse{}}
	for _, c := range []struct {
		name          string
		method        string
		first, second contract.Outcome
		want          string
	}{
		{"the same answer", "Controller/CreateVolume", answered(volume("v1", 1, nil)), answered(volume("v1", 1, nil)), ""},
		{"another volume", "Controller/CreateVolume", answered(volume("v1", 1, nil)), answered(volume("v2", 1, nil)),
			"CreateVolume is not idempotent: volume v1, then v2"},
		{"another size", "Controller/CreateVolume", answered(volume("v1", 1, nil)), answered(volume("v1", 2, nil)),
			"CreateVolume is not idempotent: volume.capacity_bytes 1, then 2"},
		{"another context", "Controller/CreateVolume", answered(volume("v1", 1, map[string]string{"b": "2", "a": "1"})), answered(volume("v1", 1, nil)),
			"CreateVolume is not idempotent: volume.volume_context a=1,b=2, then none"},
		{"another attachment", "Controller/ControllerPublishVolume", answered(attached(map[string]string{"dev": "1"})), answered(attached(map[string]string{"dev": "2"})),
			"ControllerPublishVolume is not idempotent: publish_context dev=1, then dev=2"},
		{"a snapshot of a group without its id", "GroupController/CreateVolumeGroupSnapshot", group(one, two), group(one, &csi.Snapshot{SourceVolumeId: "v2"}),
			"CreateVolumeGroupSnapshot is not idempotent: group_snapshot.snapshots.snapshot_id s2, then none"},
		{"fewer snapshots of a group", "GroupController/CreateVolumeGroupSnapshot", group(one, two), group(one),
			"CreateVolumeGroupSnapshot is not idempotent: group_snapshot.snapshots 2, then 1"},
		{"no snapshots of a group", "GroupController/CreateVolumeGroupSnapshot", group(one, two), group(),
			"CreateVolumeGroupSnapshot is not idempotent: group_snapshot.snapshots 2, then none"},
		{"an error", "Node/NodeStageVolume", answered(&csi.NodeStageVolumeResponse{}), refused,
			"NodeStageVolume is not idempotent: OK, then Internal (staged already)"},
		{"the same mount", "Node/NodePublishVolume", contract.Outcome{Mounts: []string{"m"}}, contract.Outcome{Mounts: []string{"m"}}, ""},
		{"a second mount", "Node/NodePublishVolume", contract.Outcome{Mounts: []string{"m"}}, contract.Outcome{Mounts: []string{"m", "m"}},
			"NodePublishVolume is not idempotent: 1 mount, then 2"},
		{"another mount", "Node/NodePublishVolume", contract.Outcome{Mounts: []string{"of a at t"}}, contract.Outcome{Mounts: []string{"of b at t"}},
			"NodePublishVolume is not idempotent: mount of a at t, then of b at t"},
		{"a mount that comes back", "Node/NodeUnpublishVolume", contract.Outcome{}, contract.Outcome{Mounts: []string{"m"}},
			"NodeUnpublishVolume is not idempotent: 0 mounts, then 1"},
		{"a volume that was not requested", "Controller/CreateVolume",
			contract.Outcome{Answer: volume("v1", 1, nil), Volumes: []contract.Listed{{ID: "v1"}}},
			contract.Outcome{Answer: volume("v1", 1, nil), Volumes: []contract.Listed{{ID: "v1"}, {ID: "v2"}}},
			"CreateVolume is not idempotent: 1 volume, then 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for _, v := range contract.CheckRepeat(c.method, c.first, c.second) {
				got += v.String()
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// A repeated call that answers with another id has created something twice. A repeated call that
// answers with another value has not.
func TestTheFieldOfAnotherAnswerIsNamedUnlessItIsTheID(t *testing.T) {
	answered := func(id string, bytes int64) contract.Outcome {
		return contract.Outcome{Answer: &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: id, CapacityBytes: bytes}}}
	}
	for _, c := range []struct {
		second contract.Outcome
		field  string
	}{{answered("v2", 1), ""}, {answered("v1", 0), "volume.capacity_bytes"}} {
		found := contract.CheckRepeat("Controller/CreateVolume", answered("v1", 1), c.second)
		if assert.Len(t, found, 1) {
			assert.Equal(t, c.field, found[0].Field, found[0].Text)
		}
	}
}

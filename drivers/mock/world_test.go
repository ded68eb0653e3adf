package mock

import (
	"context"
	"fmt"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

const (
	singleWriter = csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER
	multiWriter  = csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
	nodeWriter   = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	manyNodes    = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	staging      = "/staging"
)

func off() *bool { return new(bool) }

// everything returns the options of a driver with all capabilities.
func everything() Options {
	return Options{
		ControllerExpand: true, NodeExpand: true, Snapshot: true, ListSnapshots: true, GetSnapshot: true, GroupSnapshot: true, Clone: true,
		ListVolumes: true, ListVolumesPublishedNodes: true, GetVolume: true, GetCapacity: true, ModifyVolume: true,
		VolumeMountGroup: true, Stats: true, VolumeCondition: true, VolumeHealth: true, Topology: true, Ephemeral: true,
	}
}

// world is a driver with two nodes, "a" and "b".
type world struct {
	d     *Driver
	c     *Controller
	nodes map[string]*Node
	log   []string // the answers
	caps  contract.Caps
	wrong []verdict.Verdict
}

func newWorld(o Options) *world {
	d := New(o)
	w := &world{d: d, c: d.Controller(), nodes: map[string]*Node{}}
	for _, id := range []string{"a", "b"} {
		w.nodes[id] = d.Node(NodeOptions{NodeID: id})
	}
	return w
}

// step is one call. The name of a volume is "pvc", and its id is vol-0001.
type step func(w *world) error

func call[Q, R proto.Message](w *world, method string, f func(context.Context, Q) (R, error), req Q) error {
	resp, err := f(context.Background(), req)
	w.log = append(w.log, fmt.Sprintf("%s %v %v", method, resp, status.Code(err)))
	if err == nil {
		w.wrong = append(w.wrong, contract.CheckResponse(method, req, resp, &w.caps)...)
		w.caps.Learn(resp)
	} else {
		w.wrong = append(w.wrong, contract.CheckError(method, req, status.Code(err), &w.caps)...)
	}
	return err
}

func capability(mode accessMode) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
	}
}

func block(mode accessMode) *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}},
	}
}

func create(mode accessMode, edits ...func(*csi.CreateVolumeRequest)) step {
	return func(w *world) error {
		req := &csi.CreateVolumeRequest{Name: "pvc", VolumeCapabilities: []*csi.VolumeCapability{capability(mode)}, CapacityRange: &csi.CapacityRange{RequiredBytes: 1 << 20}}
		for _, edit := range edits {
			edit(req)
		}
		return call(w, "Controller/CreateVolume", w.c.CreateVolume, req)
	}
}

func remove(id string) step {
	return func(w *world) error {
		return call(w, "Controller/DeleteVolume", w.c.DeleteVolume, &csi.DeleteVolumeRequest{VolumeId: id})
	}
}

var context1 = map[string]string{createdBy: "create-volume"}

func attach(node string, mode accessMode, edits ...func(*csi.ControllerPublishVolumeRequest)) step {
	return func(w *world) error {
		req := &csi.ControllerPublishVolumeRequest{VolumeId: "vol-0001", NodeId: node, VolumeCapability: capability(mode), VolumeContext: context1}
		for _, edit := range edits {
			edit(req)
		}
		return call(w, "Controller/ControllerPublishVolume", w.c.ControllerPublishVolume, req)
	}
}

func detach(node string) step {
	return func(w *world) error {
		return call(w, "Controller/ControllerUnpublishVolume", w.c.ControllerUnpublishVolume,
			&csi.ControllerUnpublishVolumeRequest{VolumeId: "vol-0001", NodeId: node})
	}
}

func (w *world) handedOver() map[string]string {
	if w.d.options.attach() {
		return w.d.publishContext()
	}
	return nil
}

func stage(node string, mode accessMode, edits ...func(*csi.NodeStageVolumeRequest)) step {
	return func(w *world) error {
		req := &csi.NodeStageVolumeRequest{VolumeId: "vol-0001", StagingTargetPath: staging, VolumeCapability: capability(mode),
			VolumeContext: context1, PublishContext: w.handedOver()}
		for _, edit := range edits {
			edit(req)
		}
		return call(w, "Node/NodeStageVolume", w.nodes[node].NodeStageVolume, req)
	}
}

func unstage(node string) step {
	return func(w *world) error {
		return call(w, "Node/NodeUnstageVolume", w.nodes[node].NodeUnstageVolume,
			&csi.NodeUnstageVolumeRequest{VolumeId: "vol-0001", StagingTargetPath: staging})
	}
}

func publish(node, target string, mode accessMode, edits ...func(*csi.NodePublishVolumeRequest)) step {
	return func(w *world) error {
		req := &csi.NodePublishVolumeRequest{VolumeId: "vol-0001", StagingTargetPath: staging, TargetPath: target,
			VolumeCapability: capability(mode), VolumeContext: context1, PublishContext: w.handedOver()}
		for _, edit := range edits {
			edit(req)
		}
		return call(w, "Node/NodePublishVolume", w.nodes[node].NodePublishVolume, req)
	}
}

func unpublish(node, target string) step {
	return func(w *world) error {
		return call(w, "Node/NodeUnpublishVolume", w.nodes[node].NodeUnpublishVolume,
			&csi.NodeUnpublishVolumeRequest{VolumeId: "vol-0001", TargetPath: target})
	}
}

func snapshotOf(name, volume string) step {
	return func(w *world) error {
		return call(w, "Controller/CreateSnapshot", w.c.CreateSnapshot, &csi.CreateSnapshotRequest{Name: name, SourceVolumeId: volume})
	}
}

func expand(low, high int64) step {
	return func(w *world) error {
		return call(w, "Controller/ControllerExpandVolume", w.c.ControllerExpandVolume, &csi.ControllerExpandVolumeRequest{
			VolumeId: "vol-0001", CapacityRange: &csi.CapacityRange{RequiredBytes: low, LimitBytes: high}})
	}
}

func nodeExpand(path string, low int64) step {
	return func(w *world) error {
		return call(w, "Node/NodeExpandVolume", w.nodes["a"].NodeExpandVolume, &csi.NodeExpandVolumeRequest{
			VolumeId: "vol-0001", VolumePath: path, CapacityRange: &csi.CapacityRange{RequiredBytes: low}})
	}
}

func list(maxEntries int32, token string) step {
	return func(w *world) error {
		return call(w, "Controller/ListVolumes", w.c.ListVolumes, &csi.ListVolumesRequest{MaxEntries: maxEntries, StartingToken: token})
	}
}

func listSnapshots(maxEntries int32, token string) step {
	return func(w *world) error {
		return call(w, "Controller/ListSnapshots", w.c.ListSnapshots, &csi.ListSnapshotsRequest{MaxEntries: maxEntries, StartingToken: token})
	}
}

func modify(key string) step {
	return func(w *world) error {
		return call(w, "Controller/ControllerModifyVolume", w.c.ControllerModifyVolume,
			&csi.ControllerModifyVolumeRequest{VolumeId: "vol-0001", MutableParameters: map[string]string{key: "1"}})
	}
}

func stats(path string) step {
	return func(w *world) error {
		return call(w, "Node/NodeGetVolumeStats", w.nodes["a"].NodeGetVolumeStats, &csi.NodeGetVolumeStatsRequest{VolumeId: "vol-0001", VolumePath: path})
	}
}

func introduce(w *world) error {
	for _, f := range []step{
		func(w *world) error {
			return call(w, "Identity/GetPluginInfo", w.c.GetPluginInfo, &csi.GetPluginInfoRequest{})
		},
		func(w *world) error {
			return call(w, "Identity/GetPluginCapabilities", w.c.GetPluginCapabilities, &csi.GetPluginCapabilitiesRequest{})
		},
		func(w *world) error { return call(w, "Identity/Probe", w.c.Probe, &csi.ProbeRequest{}) },
		func(w *world) error {
			return call(w, "Controller/ControllerGetCapabilities", w.c.ControllerGetCapabilities, &csi.ControllerGetCapabilitiesRequest{})
		},
		func(w *world) error {
			return call(w, "Node/NodeGetCapabilities", w.nodes["a"].NodeGetCapabilities, &csi.NodeGetCapabilitiesRequest{})
		},
		func(w *world) error {
			return call(w, "Node/NodeGetInfo", w.nodes["a"].NodeGetInfo, &csi.NodeGetInfoRequest{})
		},
		func(w *world) error { // the plugin registers again
			return call(w, "Node/NodeGetInfo", w.nodes["a"].NodeGetInfo, &csi.NodeGetInfoRequest{})
		},
	} {
		if err := f(w); err != nil {
			return err
		}
	}
	return nil
}

// given sets up a world.
func given(t *testing.T, o Options, steps ...step) *world {
	w := newWorld(o)
	for i, s := range steps {
		require.NoError(t, s(w), "given step %d", i)
	}
	return w
}

func code(err error) codes.Code { return status.Code(err) }

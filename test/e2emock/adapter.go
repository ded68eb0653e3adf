package main

import (
	"context"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// adapter changes two properties for which the mock has no setting: its node id, which is always
// the driver's name, and its staging, which it always offers.
type adapter struct {
	name         string
	nodeID       string
	disableStage bool
}

func (a adapter) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := a.request(req); err != nil {
		return nil, err
	}
	reply, err := handle(ctx, req)
	if err == nil {
		a.reply(reply)
	}
	return reply, err
}

func (a adapter) request(req any) error {
	switch r := req.(type) {
	case *csi.ControllerPublishVolumeRequest:
		r.NodeId = a.inward(r.GetNodeId())
	case *csi.ControllerUnpublishVolumeRequest:
		r.NodeId = a.inward(r.GetNodeId())
	case *csi.NodeStageVolumeRequest, *csi.NodeUnstageVolumeRequest:
		if a.disableStage {
			return status.Error(codes.Unimplemented, "switched off by --disable-stage")
		}
	}
	return nil
}

func (a adapter) reply(reply any) {
	switch r := reply.(type) {
	case *csi.NodeGetInfoResponse:
		r.NodeId = a.outward(r.GetNodeId())
	case *csi.ControllerGetVolumeResponse:
		a.outwardAll(r.GetStatus().GetPublishedNodeIds())
	case *csi.ListVolumesResponse:
		for _, entry := range r.GetEntries() {
			a.outwardAll(entry.GetStatus().GetPublishedNodeIds())
		}
	case *csi.NodeGetCapabilitiesResponse:
		if a.disableStage {
			r.Capabilities = slices.DeleteFunc(r.Capabilities, isStaging)
		}
	}
}

// inward converts a node id to the mock's id. The ids of other nodes stay unchanged, and the mock
// refuses them. The mock also refuses its own original id if it has another id now.
func (a adapter) inward(id string) string {
	switch {
	case a.nodeID == "":
		return id
	case id == a.nodeID:
		return a.name
	case id == a.name:
		return "not-" + a.name
	default:
		return id
	}
}

func (a adapter) outward(id string) string {
	if a.nodeID != "" && id == a.name {
		return a.nodeID
	}
	return id
}

func (a adapter) outwardAll(ids []string) {
	for i, id := range ids {
		ids[i] = a.outward(id)
	}
}

func isStaging(c *csi.NodeServiceCapability) bool {
	return c.GetRpc().GetType() == csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME
}

//go:build linux

package service

import (
	"context"
	"errors"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

// node serves the calls to the plugin on a node.
type node struct {
	csi.UnimplementedNodeServer
	*Driver
	// fencing is locked to change mounts for a fence, and read-locked while volumes are published.
	fencing sync.RWMutex
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	info := &csi.NodeGetInfoResponse{NodeId: n.Config.NodeID, MaxVolumesPerNode: n.Config.MaxVolumes}
	if len(n.Config.Topology) > 0 {
		info.AccessibleTopology = &csi.Topology{Segments: n.Config.Topology}
	}
	return info, nil
}

func (n *node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	types := []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	}
	if n.Config.MountGroup {
		types = append(types, csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP)
	}
	if !n.Config.InlineOnly {
		types = append(types, csi.NodeServiceCapability_RPC_EXPAND_VOLUME)
	}
	if n.Config.Stage && !n.Config.InlineOnly {
		types = append(types, csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME)
	}
	answer := &csi.NodeGetCapabilitiesResponse{}
	for _, t := range types {
		answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{
			Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: t}},
		})
	}
	return answer, nil
}

// nodePromises only returns the capabilities of the node plugins.
type nodePromises struct {
	csi.UnimplementedNodeServer
	node *node
}

func (p nodePromises) NodeGetCapabilities(ctx context.Context, req *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return p.node.NodeGetCapabilities(ctx, req)
}

// usable returns a volume if it may be used on this node with the access, and whether it is
// read-only.
func (n *node) usable(id string, a access, publishContext map[string]string) (v backend.Volume, readOnly bool, err error) {
	if n.Config.Addons {
		if err := n.admitted(); err != nil {
			return v, false, err
		}
		if err := n.writable(id, a.readerOnly()); err != nil {
			return v, false, err
		}
	}
	if v, err = n.Store.Volume(id); err != nil {
		return v, false, Answer(err)
	}
	if !a.suits(v) {
		return v, false, precondition("volume %s cannot be used as the capability says", id)
	}
	if !n.Config.Attach {
		return v, a.readerOnly(), nil
	}
	attachment, attached := v.Attachments[n.Config.NodeID]
	if !attached || !attachment.Attached() {
		return v, false, precondition("volume %s is not attached to node %s", id, n.Config.NodeID)
	}
	if publishContext[contextPath] == "" {
		return v, false, invalid("publish_context lacks %q, which ControllerPublishVolume returned", contextPath)
	}
	return v, attachment.ReadOnly || a.readerOnly(), nil
}

// exists reports whether the volume is in the backend.
func (n *node) exists(id string) (bool, error) {
	if n.isInlineID(id) {
		return true, nil // each publication creates the volume
	}
	_, err := n.Store.Volume(id)
	if errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

package mock

import (
	"context"
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// NodeOptions describes one node.
type NodeOptions struct {
	NodeID   string            // answer of NodeGetInfo; required
	Topology map[string]string // segments of the node; default the topologyKey with the node id
	Mounter  Mounter           // default none: stagings and publications are only recorded
}

// Node is a node plugin: csi.IdentityServer and csi.NodeServer of one node.
type Node struct {
	identity
	csi.UnimplementedNodeServer
	state *nodeState
}

var (
	_ csi.IdentityServer = (*Node)(nil)
	_ csi.NodeServer     = (*Node)(nil)
)

// nodeState is the state of a node that survives the plugin: its mount table. It is guarded by the
// Driver's lock.
type nodeState struct {
	id        string
	segments  map[string]string
	limit     int64   // limit of attached volumes; 0: no limit
	release   *Driver // the source of the limit
	mounter   Mounter
	staged    map[string]mount // by path
	published map[string]mount // by path
	busy      map[string]bool  // volumes with a call in flight
	// introduced means that NodeGetInfo was answered before.
	introduced bool
}

type mount struct {
	volumeID   string
	capability *csi.VolumeCapability
	asked      bool // readonly of the request
	readOnly   bool // of the mount
}

// Node returns an instance of the node plugin. Instances with the same NodeID share the node: a
// second instance is the restarted plugin, and has the mounts of the first.
func (d *Driver) Node(o NodeOptions) *Node {
	if o.NodeID == "" {
		panic("mock driver: NodeOptions.NodeID is required")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	state := d.nodes[o.NodeID]
	if state == nil {
		state = &nodeState{id: o.NodeID, staged: map[string]mount{}, published: map[string]mount{}, busy: map[string]bool{}}
		d.nodes[o.NodeID] = state
	}
	if state.release != d {
		state.release, state.limit = d, d.options.MaxVolumesPerNode
	}
	state.mounter = o.Mounter
	state.segments = maps.Clone(o.Topology)
	if state.segments == nil {
		state.segments = map[string]string{d.options.topologyKey(): o.NodeID}
	}
	return &Node{identity: identity{driver: d}, state: state}
}

// Restart applies the effect of a plugin's restart to the node. A restart has no effect, unless the
// driver misbehaves.
func (n *Node) Restart() {
	if n.driver.faults[forgetPublicationsOnRestart] {
		n.Reboot()
	}
}

// Reboot applies the effect of a reboot of the node: it removes all mounts.
func (n *Node) Reboot() {
	n.driver.mu.Lock()
	defer n.driver.mu.Unlock()
	clear(n.state.staged)
	clear(n.state.published)
}

func (n *Node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: n.driver.nodeCapabilities}, nil
}

func (n *Node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	d := n.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	resp := &csi.NodeGetInfoResponse{NodeId: n.state.id, MaxVolumesPerNode: n.state.limit}
	if d.options.Topology {
		resp.AccessibleTopology = &csi.Topology{Segments: maps.Clone(n.state.segments)}
	}
	switch {
	case d.faults[nodeGetInfoEmptyID]:
		resp.NodeId = ""
	case d.faults[nodeIDChanges] && n.state.introduced:
		resp.NodeId += "-again"
	}
	n.state.introduced = true
	return resp, nil
}

// begin marks a volume as having a call in flight on this node. A second call returns ABORTED (CSI
// "Concurrency"). The returned function ends the call.
func (n *Node) begin(volumeID string) (end func(), err error) {
	d := n.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	if n.state.busy[volumeID] {
		return nil, status.Errorf(codes.Aborted, "another call for volume %s is in flight on node %s", volumeID, n.state.id)
	}
	n.state.busy[volumeID] = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(n.state.busy, volumeID)
	}, nil
}

// locked calls f under the lock of the driver. Calls of a Mounter must not hold this lock.
func (n *Node) locked(f func() error) error {
	n.driver.mu.Lock()
	defer n.driver.mu.Unlock()
	return f()
}

// usable returns the volume of a stage or publish request, if the request is valid on this node.
func (n *Node) usable(id string, c *csi.VolumeCapability, volumeContext, publishContext map[string]string) (*volume, error) {
	d := n.driver
	v := d.volumes[id]
	if v == nil {
		return nil, noVolume(id)
	}
	if err := d.contextOf(v, volumeContext); err != nil {
		return nil, err
	}
	if !v.supports(c) {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s was not made for this volume_capability", id)
	}
	if err := first(n.admitted(), d.writableReplica(id, c)); err != nil {
		return nil, err
	}
	return v, n.attached(v, publishContext)
}

// attached checks that ControllerPublishVolume has been called, if the driver implements it.
func (n *Node) attached(v *volume, given map[string]string) error {
	d := n.driver
	switch {
	case d.faults[stageNeedsNoAttach]:
		return nil
	case !d.options.attach():
		if len(given) > 0 {
			return invalid("publish_context needs the capability PUBLISH_UNPUBLISH_VOLUME")
		}
		return nil
	}
	if _, ok := v.attachments.Find(n.state.id); !ok {
		return status.Errorf(codes.FailedPrecondition, "volume %s is not attached to node %s", v.id, n.state.id)
	}
	if d.options.strict() && !maps.Equal(given, d.publishContext()) {
		return invalid("publish_context is not the one that ControllerPublishVolume answered")
	}
	return nil
}

// isMounted checks whether a path is mounted on the node. Without a Mounter, the driver's record is
// the mount table.
func (n *Node) isMounted(path string, remembered bool) (bool, error) {
	if n.state.mounter == nil {
		return remembered, nil
	}
	mounted, err := n.state.mounter.IsMounted(path)
	if err != nil {
		return false, status.Errorf(codes.Internal, "look for a mount on %s: %v", path, err)
	}
	return mounted, nil
}

func (n *Node) unmount(path string) error {
	if n.state.mounter == nil {
		return nil
	}
	if err := n.state.mounter.Unmount(path); err != nil {
		return status.Errorf(codes.Internal, "unmount %s: %v", path, err)
	}
	return nil
}

func (v *volume) device() string { return or(v.name, v.id) }

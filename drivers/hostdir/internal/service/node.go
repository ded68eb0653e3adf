//go:build linux

package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

type node struct {
	csi.UnimplementedNodeServer
	cfg    Config
	store  *backend.Backend
	ledger placement.Ledger
	// restarted is true if an earlier instance has served this node.
	restarted bool
	// inlines has the ids of the inline volumes that this instance has published; calls for several
	// overlap.
	inlines sync.Map
	// devices has the loop devices that broken.DeviceRemembered assumes to be those of volumes.
	devices sync.Map
	// staged has the paths at which this instance has staged volumes, for broken.UnstageForgives.
	staged sync.Map
	// remembered has the first results that some other defects assume to hold for ever.
	remembered sync.Map
	// fencing is locked to change mounts for a fence, and read-locked while volumes are published.
	fencing sync.RWMutex
}

func newNode(cfg Config, store *backend.Backend) (*node, error) {
	records := filepath.Join(cfg.NodeStateDir, "placements") // the directory above may exist before the first start
	_, err := os.Stat(records)
	restarted := err == nil
	ledger, err := placement.Open(records, cfg.Broken.Has(broken.RecordsNotSynced))
	if err != nil {
		return nil, err
	}
	if cfg.Broken.Has(broken.StartUnmounts) {
		if err := unmountAll(ledger); err != nil {
			return nil, err
		}
	}
	err = store.RegisterNode(backend.Node{ID: cfg.NodeID, MaxVolumes: cfg.MaxVolumes, Topology: cfg.Topology})
	return &node{cfg: cfg, store: store, ledger: ledger, restarted: restarted}, err
}

// UnmountAll unmounts all mounts of an instance, if it serves a node.
func UnmountAll(cfg Config) error {
	if !cfg.Node {
		return nil
	}
	ledger, err := placement.Open(filepath.Join(cfg.NodeStateDir, "placements"), false)
	if err != nil {
		return err
	}
	return unmountAll(ledger)
}

// unmountAll unmounts all mounts of an earlier instance.
func unmountAll(ledger placement.Ledger) error {
	known, err := ledger.All()
	for _, p := range known {
		_, gone := mount.Unmount(p.Path)
		err = errors.Join(err, gone)
	}
	return err
}

func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	info := &csi.NodeGetInfoResponse{NodeId: n.cfg.NodeID, MaxVolumesPerNode: n.cfg.MaxVolumes}
	if n.cfg.Broken.Has(broken.LimitTooHigh) {
		info.MaxVolumesPerNode = n.cfg.MaxVolumes + 1
	}
	if len(n.cfg.Topology) > 0 {
		info.AccessibleTopology = &csi.Topology{Segments: n.cfg.Topology}
	}
	return info, nil
}

func (n *node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	types := []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER,
	}
	if n.cfg.MountGroup || n.cfg.Broken.Has(broken.MountGroupIgnored) {
		types = append(types, csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP)
	}
	if !n.cfg.InlineOnly {
		types = append(types, csi.NodeServiceCapability_RPC_EXPAND_VOLUME)
	}
	if n.cfg.Stage && !n.cfg.InlineOnly {
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

// usable returns a volume that may be used on this node in that way, and whether it is read-only.
func (n *node) usable(id string, a access, publishContext map[string]string) (v backend.Volume, readOnly bool, err error) {
	if n.cfg.Addons {
		if err := n.admitted(); err != nil {
			return v, false, err
		}
		if err := n.writable(id, a.readerOnly()); err != nil {
			return v, false, err
		}
	}
	if v, err = n.store.Volume(id); err != nil {
		return v, false, answer(err)
	}
	if !a.suits(v) {
		return v, false, precondition("volume %s cannot be used as the capability says", id)
	}
	if !n.cfg.Attach {
		return v, a.readerOnly(), nil
	}
	attachment, attached := v.Attachments[n.cfg.NodeID]
	if !attached || !attachment.Attached() {
		return v, false, precondition("volume %s is not attached to node %s", id, n.cfg.NodeID)
	}
	if publishContext[contextPath] == "" {
		return v, false, invalid("publish_context lacks %q, which ControllerPublishVolume returned", contextPath)
	}
	return v, attachment.ReadOnly || a.readerOnly(), nil
}

// exists reports whether the volume is in the backend.
func (n *node) exists(id string) (bool, error) {
	if n.isInlineID(id) {
		return true, nil // it is created whenever it is published
	}
	_, err := n.store.Volume(id)
	if errors.Is(err, backend.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// label identifies this node's loop device for a volume. Loop devices are visible to every node
// that shares the machine, so the label names node and backend, too.
func (n *node) label(volumeID string) string {
	key := strings.Join([]string{n.cfg.DriverName, n.store.Dir(), n.cfg.NodeID, volumeID}, "\x00")
	sum := sha256.Sum256([]byte(key))
	return "hostdir-" + hex.EncodeToString(sum[:16])
}

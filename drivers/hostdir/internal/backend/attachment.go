//go:build linux

package backend

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// Attachment describes the attachment of a volume to a node.
type Attachment struct {
	ReadOnly bool   `json:"readOnly,omitempty"`
	Mode     string `json:"mode"`
	// From and Until are the end times of the jobs that attach and detach the volume; zero without
	// a job.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Node is a node that runs the driver. MaxVolumes zero means no limit.
type Node struct {
	ID         string            `json:"id"`
	MaxVolumes int64             `json:"maxVolumes,omitempty"`
	Topology   map[string]string `json:"topology,omitempty"`
}

// AttachedNodes lists the nodes the volume is attached to, in order.
func (v Volume) AttachedNodes() (nodes []string) {
	for nodeID, a := range v.Attachments {
		if a.Attached() {
			nodes = append(nodes, nodeID)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// RegisterNode registers the node, so that volumes can be attached to it.
func (b *Backend) RegisterNode(n Node) error {
	return b.exclusively(func() error {
		return WriteJSON(b.nodeFile(n.ID), n)
	})
}

// Attach records that the volume is available on the node. With exclusive, the volume must not be
// attached to another node. Errors: ErrNotFound (volume or node), ErrIncompatible, ErrInUse
// (attached to another node), ErrExhausted (too many volumes on the node), ErrUnsuitable (the node
// cannot reach the volume), ErrPending.
func (b *Backend) Attach(id, nodeID string, a Attachment, exclusive bool) (v Volume, err error) {
	err = b.exclusively(func() error {
		if v, err = b.volume(id); err != nil {
			return err
		}
		node, err := b.node(nodeID)
		if err != nil {
			return err
		}
		if old, ok := v.Attachments[nodeID]; ok {
			if old.ReadOnly != a.ReadOnly || old.Mode != a.Mode {
				return fmt.Errorf("volume %s is attached to %s as %+v: %w", id, nodeID, old, ErrIncompatible)
			}
			return old.pending(id, nodeID)
		}
		if err := b.admit(v, node, exclusive); err != nil {
			return err
		}
		if v.Attachments == nil {
			v.Attachments = map[string]Attachment{}
		}
		a.From = due(b.Jobs.Attach)
		v.Attachments[nodeID] = a
		if err := b.saveVolume(v); err != nil {
			return err
		}
		return a.pending(id, nodeID)
	})
	return v, err
}

func (b *Backend) admit(v Volume, node Node, exclusive bool) error {
	if exclusive && len(v.Attachments) > 0 {
		return fmt.Errorf("volume %s is attached to %v: %w", v.ID, v.AttachedNodes(), ErrInUse)
	}
	for key, value := range v.Topology {
		if node.Topology[key] != value {
			return fmt.Errorf("volume %s needs %s=%s, node %s has %q: %w",
				v.ID, key, value, node.ID, node.Topology[key], ErrUnsuitable)
		}
	}
	if node.MaxVolumes == 0 {
		return nil
	}
	all, err := b.Volumes()
	if err != nil {
		return err
	}
	var attached int64
	for _, other := range all {
		if _, ok := other.Attachments[node.ID]; ok {
			attached++
		}
	}
	if attached >= node.MaxVolumes {
		return fmt.Errorf("node %s has %d of %d volumes: %w", node.ID, attached, node.MaxVolumes, ErrExhausted)
	}
	return nil
}

// Detach detaches the volume from the node, or from all nodes when nodeID is empty. Detaching a
// volume that is not attached is not an error. Errors: ErrPending.
func (b *Backend) Detach(id, nodeID string) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		if nodeID == "" {
			v.Attachments = nil
		}
		if a, ok := v.Attachments[nodeID]; ok && b.Jobs.Detach > 0 {
			return b.beginDetach(v, nodeID, a)
		}
		delete(v.Attachments, nodeID)
		return b.saveVolume(v)
	})
}

// beginDetach starts the job that detaches the volume, unless the job has started already.
func (b *Backend) beginDetach(v Volume, nodeID string, a Attachment) error {
	if a.Until.IsZero() {
		a.Until = due(b.Jobs.Detach)
		v.Attachments[nodeID] = a
		if err := b.saveVolume(v); err != nil {
			return err
		}
	}
	if b.Jobs.DetachLater {
		return nil
	}
	return a.pending(v.ID, nodeID)
}

// ForgetAttachments empties the attachment table.
func (b *Backend) ForgetAttachments() error {
	all, err := b.Volumes()
	if err != nil {
		return err
	}
	for _, v := range all {
		if err := b.Detach(v.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) node(id string) (Node, error) {
	var n Node
	if err := ReadJSON(b.nodeFile(id), &n); err != nil {
		return n, fmt.Errorf("node %q: %w", id, ErrNotFound)
	}
	return n, nil
}

func (b *Backend) nodeFile(id string) string {
	return filepath.Join(b.dir, nodesDir, identify("node-", id)+".json")
}

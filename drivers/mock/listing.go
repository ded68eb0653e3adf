package mock

import (
	"cmp"
	"slices"
)

// Volume is a volume in the storage system; CapacityBytes in bytes.
type Volume struct {
	ID, Name      string
	CapacityBytes int64
}

// Snapshot is a snapshot in the storage system; SizeBytes in bytes.
type Snapshot struct {
	ID, Name, SourceVolumeID string
	SizeBytes                int64
}

// Attachment is a volume that a controller has published on a node.
type Attachment struct {
	VolumeID, NodeID string
	ReadOnly         bool
}

// Mount is a volume that is staged or published on a node at Path.
type Mount struct {
	VolumeID, Path string
	ReadOnly       bool
}

// Volumes lists all volumes, oldest first.
func (d *Driver) Volumes() []Volume {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Volume
	for _, v := range d.volumesInOrder() {
		list = append(list, Volume{ID: v.id, Name: v.name, CapacityBytes: v.bytes})
	}
	return list
}

// Snapshots lists all snapshots, oldest first.
func (d *Driver) Snapshots() []Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Snapshot
	for _, s := range d.snapshotsInOrder() {
		list = append(list, Snapshot{ID: s.id, Name: s.name, SourceVolumeID: s.sourceID, SizeBytes: s.bytes})
	}
	return list
}

// Attachments lists all attachments by volume, then node.
func (d *Driver) Attachments() []Attachment {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []Attachment
	for _, v := range d.volumesInOrder() {
		for _, node := range v.nodeIDs() {
			list = append(list, Attachment{VolumeID: v.id, NodeID: node, ReadOnly: v.attachments.Get(node).readOnly})
		}
	}
	return list
}

// Staged lists the staged volumes of a node, by path.
func (d *Driver) Staged(nodeID string) []Mount {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[nodeID]; n != nil {
		return sortedMounts(n.staged)
	}
	return nil
}

// Published lists the published volumes of a node, by path.
func (d *Driver) Published(nodeID string) []Mount {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[nodeID]; n != nil {
		return sortedMounts(n.published)
	}
	return nil
}

func sortedMounts(m map[string]mount) []Mount {
	var list []Mount
	for path, mnt := range m {
		list = append(list, Mount{VolumeID: mnt.volumeID, Path: path, ReadOnly: mnt.readOnly})
	}
	slices.SortFunc(list, func(a, b Mount) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

func mountsOf(m map[string]mount, volumeID string) []string {
	var paths []string
	for path, at := range m { // in any order: the result is sorted
		if at.volumeID == volumeID {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

package ledger

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// attachments enters the VolumeAttachments of volumes that no pod uses on the node.
func (a *accountant) attachments() {
	for va := range store.List[*storagev1.VolumeAttachment](a.Store, "") {
		n, name := a.needs[va.Spec.NodeName], va.Spec.Source.PersistentVolumeName
		if n != nil && name != nil && n.volumes[*name] {
			continue
		}
		handle := ""
		if name != nil {
			handle = a.handleOf(*name)
		}
		e := Entry{Kind: VolumeAttachment, Name: va.Name, Node: va.Spec.NodeName}
		if name != nil {
			e.Detail = "volume " + *name
		}
		a.history.VolumeAttachment(&e, va.Spec.Attacher, handle, a.nodeIDOf(va.Spec.Attacher, va.Spec.NodeName))
		a.add(e)
	}
}

// handleOf returns the handle of a PersistentVolume that exists or existed.
func (a *accountant) handleOf(name string) string {
	if pv, ok := store.Get[*corev1.PersistentVolume](a.Store, store.Key{Name: name}); ok && pv.Spec.CSI != nil {
		return pv.Spec.CSI.VolumeHandle
	}
	return a.history.IDOf(name)
}

func (a *accountant) nodeIDOf(driver, node string) string {
	for _, d := range a.Backends {
		if d.Driver == driver {
			return d.NodeID(node)
		}
	}
	return node
}

// backend enters the unaccounted volumes, attachments and snapshots of a driver. It uses the
// driver's lists or, if there is none, its answers.
func (a *accountant) backend(d *Backend) {
	held, err := d.Holds()
	if err != nil {
		a.unseen("backend of "+d.Driver, err)
	}
	if held.Volumes == nil {
		for _, id := range a.history.Created(d.Driver, "CreateVolume") {
			held.Volumes = append(held.Volumes, HeldVolume{ID: id})
		}
	}
	if held.Snapshots == nil {
		held.Snapshots = a.history.Created(d.Driver, "CreateSnapshot")
	}
	nodes, before := a.nodesByID(d), d.Before.nodeIDs()
	for _, v := range held.Volumes {
		attached, known := before[v.ID]
		if !known && !a.hasVolume(d.Driver, v.ID) && !a.isWanted(d, v) {
			e := Entry{Kind: Volume, Name: v.ID, Detail: "of driver " + d.Driver + ", has no PersistentVolume"}
			a.history.Volume(&e, d.Driver, v.ID, v.Name)
			a.add(e)
		}
		for _, nodeID := range v.NodeIDs {
			if !slices.Contains(attached, nodeID) && !a.attachmentKnown(d, v.ID, nodeID, nodes[nodeID]) {
				e := Entry{Kind: Attachment, Name: v.ID, Detail: fmt.Sprintf("to node id %s in driver %s, has no VolumeAttachment", nodeID, d.Driver)}
				a.history.Attachment(&e, d.Driver, v.ID, nodeID)
				a.add(e)
			}
		}
	}
	a.snapshots(d, held.Snapshots)
	a.groupSnapshots(d)
	a.fences(d)
}

// groupSnapshots enters groups by a driver's answers: no call lists them.
func (a *accountant) groupSnapshots(d *Backend) {
	ids := a.history.Created(d.Driver, "CreateVolumeGroupSnapshot")
	if len(ids) == 0 {
		return
	}
	known := a.groupHandles()
	for _, id := range ids {
		if !known[id] {
			e := Entry{Kind: GroupSnapshot, Name: id, Detail: "of driver " + d.Driver + ", has no VolumeGroupSnapshotContent"}
			a.history.GroupSnapshot(&e, d.Driver, id)
			a.add(e)
		}
	}
}

func (a *accountant) snapshots(d *Backend, ids []string) {
	if len(ids) == 0 {
		return
	}
	known := a.snapshotHandles()
	for _, id := range ids {
		if !known[id] && !slices.Contains(d.Before.Snapshots, id) {
			e := Entry{Kind: Snapshot, Name: id, Detail: "of driver " + d.Driver + ", has no VolumeSnapshotContent"}
			a.history.Snapshot(&e, d.Driver, id)
			a.add(e)
		}
	}
}

// hasVolume reports whether a PersistentVolume has the handle, or had it and had to retain the
// volume.
func (a *accountant) hasVolume(driver, handle string) bool {
	for _, s := range []*store.Store{a.Store, a.Elsewhere} {
		if s == nil {
			continue
		}
		for range store.Indexed[*corev1.PersistentVolume](s, kind.VolumesByHandle, driver+"^"+handle) {
			return true
		}
	}
	for _, e := range a.Trace.Events() {
		if pv, ok := e.Old.(*corev1.PersistentVolume); ok && e.Kind == trace.API && e.Change == "DELETED" && pv.Spec.CSI != nil &&
			pv.Spec.CSI.Driver == driver && pv.Spec.CSI.VolumeHandle == handle {
			return pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain
		}
	}
	return false
}

// isWanted reports whether a volume without a PersistentVolume will soon get one, or is an inline
// volume of an existing pod.
func (a *accountant) isWanted(d *Backend, v HeldVolume) bool {
	if made := a.history.Creation(d.Driver, "CreateVolume", v.ID); made != nil && a.claimWaits(VolumeName(made)) {
		return true
	}
	for _, target := range a.history.PublishedFor(d.Driver, v.ID) {
		for _, n := range a.needs {
			at := path.Clean(target)
			if n.pods[DirOf(at).Locate(at).Pod] {
				return true
			}
		}
	}
	return false
}

// claimWaits reports whether there is an unbound claim for which a volume with the name is being
// created.
func (a *accountant) claimWaits(name string) bool {
	for pvc := range store.List[*corev1.PersistentVolumeClaim](a.Store, "") {
		if name == "pvc-"+strings.ToLower(string(pvc.UID)) {
			return pvc.Spec.VolumeName == ""
		}
	}
	return false
}

// nodesByID returns the nodes that a node id may denote. A program chooses its id, so the id comes
// from the plugin on the node, or from an attachment to the node.
func (a *accountant) nodesByID(d *Backend) map[string][]string {
	nodes := map[string][]string{}
	add := func(id, node string) {
		if !slices.Contains(nodes[id], node) {
			nodes[id] = append(nodes[id], node)
		}
	}
	for _, n := range a.Nodes {
		for _, id := range d.IDs(n.Name) {
			add(id, n.Name)
		}
	}
	for va := range store.List[*storagev1.VolumeAttachment](a.Store, "") {
		if id := va.Annotations[volume.NodeIDAnnotation]; id != "" {
			add(id, va.Spec.NodeName)
		}
	}
	return nodes
}

// attachmentKnown reports whether a VolumeAttachment exists for one of the nodes that a node id may
// denote.
func (a *accountant) attachmentKnown(d *Backend, handle, nodeID string, nodes []string) bool {
	for _, node := range nodes {
		name := volume.AttachmentName(handle, d.Driver, node)
		attachment, ok := store.Get[*storagev1.VolumeAttachment](a.Store, store.Key{Name: name})
		if ok && (slices.Contains(d.IDs(node), nodeID) || attachment.Annotations[volume.NodeIDAnnotation] == nodeID) {
			return true
		}
	}
	return false
}

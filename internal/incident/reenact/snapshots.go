package reenact

import (
	"cmp"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// snapshot is a VolumeSnapshot with its content.
type snapshot struct {
	taken
	// source is the volume with this id and this claim; either may be unknown.
	source             *volume
	sourceID, sourceOf string
	restored           int // volumes made from it
	// in is the group that creates and deletes it; nil if there is none.
	in *group
}

// The kinds of names of snapshots.
const (
	byUID    = "uid:" // of the VolumeSnapshot: the names of its content and of its call contain it
	byID     = "id:"  // at the storage
	byObject = "object:"
)

// snapshot returns the snapshot with the given names, some of which may be empty; nil if all are.
func (c *cast) snapshot(keys ...string) *snapshot {
	return entry(c.snapshots, &c.inOrder, keys, func() *snapshot { return &snapshot{} })
}

// uidOf returns the key for the name of a content or of a call.
func uidOf(name string) string {
	for _, prefix := range []string{"snapcontent-", "snapshot-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return byUID + name
}

// copies records the volume of a snapshot by the volume's id or its claim. One of the two may be
// empty.
func (c *cast) copies(n *snapshot, id, claim string) {
	n.sourceID, n.sourceOf = cmp.Or(id, n.sourceID), cmp.Or(claim, n.sourceOf)
	n.source = c.volume(n.sourceID, "", n.sourceOf, n.driver)
}

// snapshotCall reads a snapshot or a group from a call that creates or deletes it, or that creates
// a volume from it.
func (s *Story) snapshotCall(l *trace.Line, rpc string, made *volume) {
	switch rpc {
	case "CreateSnapshot":
		s.createSnapshot(l)
	case "DeleteSnapshot":
		if n := s.cast.snapshot(byID + fields.Text(l.Req, "snapshot_id")); n != nil {
			n.ends(l.At())
			n.driver = cmp.Or(l.Driver, n.driver)
		}
	case "CreateVolumeGroupSnapshot":
		s.createGroup(l)
	case "DeleteVolumeGroupSnapshot":
		s.deleteGroup(l)
	case "CreateVolume":
		s.comesFrom(l, made)
	}
}

// createSnapshot records the snapshot that a call creates.
func (s *Story) createSnapshot(l *trace.Line) {
	parameter := func(name string) string {
		return fields.Text(l.Req, "parameters", "csi.storage.k8s.io/volumesnapshot/"+name)
	}
	object := byObject
	if name := parameter("name"); name != "" {
		object += parameter("namespace") + "/" + name
	}
	n := s.cast.snapshot(uidOf(fields.Text(l.Req, "name")), byID+fields.Text(l.Resp, "snapshot", "snapshot_id"), object)
	if n == nil {
		return
	}
	n.begins(l.At())
	n.driver = cmp.Or(l.Driver, n.driver)
	s.cast.copies(n, fields.Text(l.Req, "source_volume_id"), "")
	if ready, _ := fields.At(l.Resp, "snapshot", "ready_to_use").(bool); l.Resp != nil && !ready {
		n.polls++
	}
}

// comesFrom notes the source of a new volume.
func (s *Story) comesFrom(l *trace.Line, made *volume) {
	if n := s.cast.snapshot(byID + fields.Text(l.Req, "volume_content_source", "snapshot", "snapshot_id")); n != nil && made != nil && made.restores == nil {
		made.restores = n
		n.restored++
		n.driver = cmp.Or(l.Driver, n.driver)
	}
	if of := s.cast.volume(fields.Text(l.Req, "volume_content_source", "volume", "volume_id"), "", "", l.Driver); of != nil && made != nil && of != made {
		made.clones = of
	}
}

// snapshotMessage takes a snapshot from a message of csi-snapshotter.
func (s *Story) snapshotMessage(l *trace.Line, content, rpc string) {
	n := s.cast.snapshot(uidOf(content))
	if n == nil || l.From != "csi-snapshotter" {
		return
	}
	if rpc == "DeleteSnapshot" {
		n.ends(l.At())
		return
	}
	n.begins(l.At())
}

// snapshotObject reads a snapshot from its VolumeSnapshot.
func (s *Story) snapshotObject(l *trace.Line, object map[string]any) {
	n := s.cast.snapshot(byObject+l.Name, byUID+fields.Text(object, "metadata", "uid"))
	namespace, _, _ := strings.Cut(l.Name, "/")
	if claim := fields.Text(object, "spec", "source", "persistentVolumeClaimName"); claim != "" {
		s.cast.copies(n, "", namespace+"/"+claim)
	}
	n.class = cmp.Or(fields.Text(object, "spec", "volumeSnapshotClassName"), n.class)
	s.cast.isMember(n, s.groupOf(l, object), "")
	s.lifeOf(n, l, object)
}

// contentObject reads a snapshot from its VolumeSnapshotContent.
func (s *Story) contentObject(l *trace.Line, object map[string]any) {
	ref := byObject
	if name := fields.Text(object, "spec", "volumeSnapshotRef", "name"); name != "" {
		ref += fields.Text(object, "spec", "volumeSnapshotRef", "namespace") + "/" + name
	}
	id := cmp.Or(fields.Text(object, "status", "snapshotHandle"), fields.Text(object, "spec", "source", "snapshotHandle"))
	n := s.cast.snapshot(ref, uidOf(l.Name), byUID+fields.Text(object, "spec", "volumeSnapshotRef", "uid"), byID+id)
	n.driver, n.policy = cmp.Or(fields.Text(object, "spec", "driver"), n.driver), cmp.Or(fields.Text(object, "spec", "deletionPolicy"), n.policy)
	n.class = cmp.Or(fields.Text(object, "spec", "volumeSnapshotClassName"), n.class)
	s.cast.copies(n, fields.Text(object, "spec", "source", "volumeHandle"), "")
	s.cast.isMember(n, s.groupOfContent(object), "")
	s.lifeOf(n, l, object)
}

// living is a snapshot or a group with its creation and deletion.
type living interface {
	begins(at time.Duration)
	ends(at time.Duration)
}

// lifeOf notes that an object is created or deleted during the story.
func (s *Story) lifeOf(n living, l *trace.Line, object map[string]any) {
	if l.Ev == "ADDED" {
		n.begins(l.At())
	}
	if fields.Text(object, "metadata", "deletionTimestamp") != "" {
		n.ends(l.At())
	}
}

// snapshotGone notes that a VolumeSnapshot has been deleted.
func (s *Story) snapshotGone(l *trace.Line) {
	if n := s.cast.snapshots[byObject+l.Name]; l.R == "volumesnapshots" && n != nil {
		n.ends(l.At())
	}
}

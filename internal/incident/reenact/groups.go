package reenact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// group is a VolumeGroupSnapshot with its content.
type group struct {
	taken
	// selector holds the labels by which it selects claims. It is nil if it has none, or if it also
	// has other terms.
	selector map[string]string
	sources  []*volume
}

// group returns the group with the given names, some of which may be empty; nil if all are.
func (c *cast) group(keys ...string) *group {
	return entry(c.groups, &c.groupsInOrder, keys, func() *group { return &group{} })
}

// uidOfGroup returns the key for the name of a group's content or of its call.
func uidOfGroup(name string) string {
	for _, prefix := range []string{"groupsnapcontent-", "groupsnapshot-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	return byUID + name
}

// takes records the volumes of a group by their ids.
func (c *cast) takes(g *group, ids []string) {
	for _, id := range ids {
		if v := c.volume(id, "", "", g.driver); v != nil && !slices.Contains(g.sources, v) {
			g.sources = append(g.sources, v)
		}
	}
}

// createGroup records the group that a call creates, with its members.
func (s *Story) createGroup(l *trace.Line) {
	parameter := func(name string) string {
		return fields.Text(l.Req, "parameters", "csi.storage.k8s.io/volumegroupsnapshot/"+name)
	}
	object := byObject
	if name := parameter("name"); name != "" {
		object += parameter("namespace") + "/" + name
	}
	g := s.cast.group(uidOfGroup(fields.Text(l.Req, "name")), byID+fields.Text(l.Resp, "group_snapshot", "group_snapshot_id"), object)
	if g == nil {
		return
	}
	g.begins(l.At())
	g.driver = cmp.Or(l.Driver, g.driver)
	s.cast.takes(g, texts(l.Req, "source_volume_ids"))
	for _, of := range fields.List(l.Resp, "group_snapshot", "snapshots") {
		s.cast.isMember(s.cast.snapshot(byID+fields.Text(of, "snapshot_id")), g, fields.Text(of, "source_volume_id"))
	}
	if ready, _ := fields.At(l.Resp, "group_snapshot", "ready_to_use").(bool); l.Resp != nil && !ready {
		g.polls++
	}
}

// isMember records that a snapshot belongs to a group, which creates and deletes it.
func (c *cast) isMember(n *snapshot, g *group, source string) {
	if n == nil || g == nil {
		return
	}
	n.in = g
	if source != "" {
		c.copies(n, source, "")
	}
}

// deleteGroup records the group that a call deletes.
func (s *Story) deleteGroup(l *trace.Line) {
	if g := s.cast.group(byID + fields.Text(l.Req, "group_snapshot_id")); g != nil {
		g.ends(l.At())
		g.driver = cmp.Or(l.Driver, g.driver)
	}
}

// groupMessage takes a group from a message of csi-snapshotter.
func (s *Story) groupMessage(l *trace.Line, content, rpc string) {
	g := s.cast.group(uidOfGroup(content))
	switch {
	case g == nil || l.From != "csi-snapshotter":
	case rpc == "DeleteVolumeGroupSnapshot":
		g.ends(l.At())
	default:
		g.begins(l.At())
	}
}

// groupObject reads a group from its VolumeGroupSnapshot.
func (s *Story) groupObject(l *trace.Line, object map[string]any) {
	g := s.cast.group(byObject+l.Name, byUID+fields.Text(object, "metadata", "uid"))
	g.class = cmp.Or(fields.Text(object, "spec", "volumeGroupSnapshotClassName"), g.class)
	if fields.At(object, "spec", "source", "selector", "matchExpressions") == nil {
		g.selector = labelsAt(object, "spec", "source", "selector", "matchLabels")
	}
	s.lifeOf(g, l, object)
}

// groupContentObject reads a group from its VolumeGroupSnapshotContent.
func (s *Story) groupContentObject(l *trace.Line, object map[string]any) {
	ref := byObject
	if name := fields.Text(object, "spec", "volumeGroupSnapshotRef", "name"); name != "" {
		ref += fields.Text(object, "spec", "volumeGroupSnapshotRef", "namespace") + "/" + name
	}
	id := cmp.Or(fields.Text(object, "status", "volumeGroupSnapshotHandle"), fields.Text(object, "spec", "source", "groupSnapshotHandles", "volumeGroupSnapshotHandle"))
	g := s.cast.group(ref, uidOfGroup(l.Name), byUID+fields.Text(object, "spec", "volumeGroupSnapshotRef", "uid"), byID+id)
	g.driver, g.policy = cmp.Or(fields.Text(object, "spec", "driver"), g.driver), cmp.Or(fields.Text(object, "spec", "deletionPolicy"), g.policy)
	g.class = cmp.Or(fields.Text(object, "spec", "volumeGroupSnapshotClassName"), g.class)
	s.cast.takes(g, texts(object, "spec", "source", "volumeHandles"))
	for _, of := range fields.List(object, "status", "volumeSnapshotInfoList") {
		s.cast.isMember(s.cast.snapshot(byID+fields.Text(of, "snapshotHandle")), g, fields.Text(of, "volumeHandle"))
	}
	s.lifeOf(g, l, object)
}

// groupOf returns the group of a VolumeSnapshot, which owns it; nil if it has none.
func (s *Story) groupOf(l *trace.Line, object map[string]any) *group {
	namespace, _, _ := strings.Cut(l.Name, "/")
	if name := fields.Text(object, "status", "volumeGroupSnapshotName"); name != "" {
		return s.cast.group(byObject + namespace + "/" + name)
	}
	for _, owner := range fields.List(object, "metadata", "ownerReferences") {
		if fields.Text(owner, "kind") == "VolumeGroupSnapshot" {
			return s.cast.group(byUID+fields.Text(owner, "uid"), byObject+namespace+"/"+fields.Text(owner, "name"))
		}
	}
	return nil
}

// groupOfContent returns the group of a VolumeSnapshotContent; nil if it has none.
func (s *Story) groupOfContent(object map[string]any) *group {
	const annotation = "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle"
	return s.cast.group(byID + cmp.Or(fields.Text(object, "status", "volumeGroupSnapshotHandle"), fields.Text(object, "metadata", "annotations", annotation)))
}

// groupGone notes that a VolumeGroupSnapshot has been deleted.
func (s *Story) groupGone(l *trace.Line) {
	if g := s.cast.groups[byObject+l.Name]; l.R == "volumegroupsnapshots" && g != nil {
		g.ends(l.At())
	}
}

// texts returns the texts of a list at a path.
func texts(object any, path ...string) (all []string) {
	list, _ := fields.At(object, path...).([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// labelsAt returns the labels at a path; nil for none.
func labelsAt(object any, path ...string) map[string]string {
	found, _ := fields.At(object, path...).(map[string]any)
	if len(found) == 0 {
		return nil
	}
	return textsOf(found)
}

package diff

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// cause states that one event precedes another, for one volume on one node.
type cause struct {
	first, then string
	undone      string // this event cancels an earlier first
}

// causes lists the orders of calls and object changes that the control plane maintains (fact 1).
// The traces differ if one of them keeps such an order and the other breaks it.
var causes = []cause{
	{first: "CreateVolume succeeds", then: "PersistentVolume appears"},
	{first: "PersistentVolume appears", then: "claim is bound"},
	{first: "VolumeAttachment appears", then: "ControllerPublishVolume", undone: "VolumeAttachment is removed"},
	{first: "ControllerPublishVolume succeeds", then: "VolumeAttachment is attached", undone: "ControllerUnpublishVolume succeeds"},
	{first: "VolumeAttachment is attached", then: "volumesAttached has it", undone: "VolumeAttachment is removed"},
	{first: "volumesAttached has it", then: "NodeStageVolume", undone: "volumesAttached loses it"},
	{first: "volumesInUse has it", then: "NodeStageVolume", undone: "volumesInUse loses it"},
	{first: "NodeStageVolume succeeds", then: "NodePublishVolume", undone: "NodeUnstageVolume succeeds"},
	{first: "NodeUnpublishVolume succeeds", then: "NodeUnstageVolume"},
	{first: "NodeUnstageVolume succeeds", then: "volumesInUse loses it", undone: "NodeStageVolume succeeds"},
	{first: "volumesInUse loses it", then: "volumesAttached loses it", undone: "volumesInUse has it"},
	{first: "volumesAttached loses it", then: "VolumeAttachment is deleted", undone: "volumesAttached has it"},
	{first: "VolumeAttachment is deleted", then: "ControllerUnpublishVolume"},
	{first: "ControllerUnpublishVolume succeeds", then: "VolumeAttachment is removed"},
	{first: "pod is removed", then: "claim is removed"},
	{first: "DeleteVolume succeeds", then: "PersistentVolume is deleted"},
}

// together is the time, in ms, within which cause and effect may be swapped.
const together = 25

// place is a volume, and the event's node if it has one.
type place struct{ volume, node string }

// marks are the times of events, by place and by kind.
type marks map[place]map[string][]int64

func (m marks) add(volume, node, what string, at int64) {
	if volume == "" {
		return
	}
	p := place{volume, node}
	if m[p] == nil {
		m[p] = map[string][]int64{}
	}
	m[p][what] = append(m[p][what], at)
}

// kept returns, for each occurrence of the effect, whether its cause preceded it.
func (m marks) kept(p place, c cause) (verdicts []verdict) {
	for _, then := range m[p][c.then] {
		v := verdict{at: then}
		for _, first := range m[p][c.first] {
			undone := slices.ContainsFunc(m[p][c.undone], func(u int64) bool { return first < u-together && u < then-together })
			if first <= then+together && !undone {
				v.kept = true
				v.together = first > then
			}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

type verdict struct {
	at             int64
	kept, together bool
}

// compareCauses compares the orders of causes and effects.
func (d *comparison) compareCauses() {
	a, b := d.a.marks(), d.b.marks()
	for _, p := range union(a, b, func(x, y place) int { return strings.Compare(x.volume+" "+x.node, y.volume+" "+y.node) }) {
		for _, c := range causes {
			inA, inB := a.kept(p, c), b.kept(p, c)
			for i := range min(len(inA), len(inB)) {
				d.compareVerdicts(p, c, inA[i], inB[i])
			}
		}
	}
}

func (d *comparison) compareVerdicts(p place, c cause, a, b verdict) {
	if a.together || b.together {
		d.allow(Together)
	}
	if a.kept == b.kept {
		return
	}
	say := func(v verdict) string {
		if v.kept {
			return c.first + ", then " + c.then
		}
		return c.then + " without: " + c.first
	}
	d.differ(Objects, strings.TrimSuffix(p.volume+" on "+p.node, " on "), "order of cause and effect",
		[]Row{{A: cell(a.at, say(a)), B: cell(b.at, say(b))}}, 0)
}

// marks returns the events of each volume.
func (s *side) marks() marks {
	m := marks{}
	for _, c := range s.calls {
		name := c.method[strings.Index(c.method, "/")+1:]
		m.add(c.volume, c.node, name, c.at)
		if c.code == "" {
			m.add(c.volume, c.node, name+" succeeds", c.ended)
		}
	}
	links := s.links()
	for _, c := range s.changes {
		m.markChange(links, c)
	}
	s.markNodes(m)
	return m
}

// links lead from objects to volumes.
type links struct {
	claims      map[string]string // claim, to volume
	volumes     map[string]string // PersistentVolume, to volume
	attachments map[string]place
	pods        map[string][]string // pod, to claims
}

func (s *side) links() links {
	l := links{s.volumesByClaim(s.lines), map[string]string{}, map[string]place{}, map[string][]string{}}
	for _, line := range s.lines {
		switch {
		case line.K != trace.API:
		case line.R == "persistentvolumes" && text(line.Obj, "spec", "csi", "volumeHandle") != "":
			l.volumes[line.Name] = s.names.keyOf(text(line.Obj, "spec", "csi", "volumeHandle"))
		case line.R == "volumeattachments" && line.Obj != nil:
			l.attachments[line.Name] = place{l.volumes[text(line.Obj, "spec", "source", "persistentVolumeName")], text(line.Obj, "spec", "nodeName")}
		case line.R == "pods" && line.Obj != nil:
			l.pods[line.Name] = claimsOf(line)
		}
	}
	return l
}

// markChange records the events of volumes in a change of an object.
func (m marks) markChange(l links, c *change) {
	name := c.line.Name
	switch c.object.resource {
	case "persistentvolumes":
		m.addEnds(place{l.volumes[name], ""}, "PersistentVolume", c)
	case "volumeattachments":
		m.addEnds(l.attachments[name], "VolumeAttachment", c)
		if attached, _ := field(c.content, "status", "attached").(bool); attached {
			m.add(l.attachments[name].volume, l.attachments[name].node, "VolumeAttachment is attached", c.at)
		}
	case "persistentvolumeclaims":
		m.addEnds(place{l.claims[name], ""}, "claim", c)
		if text(c.content, "status", "phase") == "Bound" {
			m.add(l.claims[name], "", "claim is bound", c.at)
		}
	case "pods":
		for _, claim := range l.pods[name] {
			m.addEnds(place{l.claims[claim], ""}, "pod", c)
		}
	}
}

// addEnds records that an object appears, has a deletionTimestamp, or is deleted.
func (m marks) addEnds(p place, what string, c *change) {
	switch {
	case c.how == "ADDED":
		m.add(p.volume, p.node, what+" appears", c.at)
	case c.how == "DELETED":
		m.add(p.volume, p.node, what+" is removed", c.at)
	case text(c.content, "metadata", "deletionTimestamp") != "":
		m.add(p.volume, p.node, what+" is deleted", c.at)
	}
}

// markNodes records the volumes that are added to and removed from the lists in the status of
// Nodes.
func (s *side) markNodes(m marks) {
	state := map[string]map[string]any{}
	for _, c := range s.changes {
		node := c.line.Name
		if c.object.resource != "nodes" {
			continue
		}
		patch := c.line.Patch
		if patch == nil {
			patch, _ = c.line.Obj.(map[string]any)
		}
		for _, list := range []string{"volumesInUse", "volumesAttached"} {
			if !has(patch, "status", list) {
				continue
			}
			for _, v := range volumesOf(field(state[node], "status", list), field(patch, "status", list)) {
				_, handle, _ := strings.Cut(v.volume, "^")
				how := map[string]string{"added": " has it", "removed": " loses it"}[v.what]
				m.add(s.names.keyOf(handle), node, list+how, c.at)
			}
		}
		state[node] = merged(state[node], patch)
	}
}

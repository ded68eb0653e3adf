package reenact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// playedGroups lists the groups of the scenario: groups that are created or deleted, and groups
// with a member from which a volume is restored.
func (c *cast) playedGroups() []*group {
	return slices.DeleteFunc(slices.Clone(c.groupsInOrder), func(g *group) bool { return g.isOld && g.deleted == 0 && !c.isRestored(g) })
}

// isRestored reports whether a volume comes from a member of a group.
func (c *cast) isRestored(g *group) bool {
	return slices.ContainsFunc(c.inOrder, func(n *snapshot) bool { return n.in == g && n.restored > 0 })
}

// completeGroups invents the names and sources that the logs lack, and the labels of claims.
func (s *Story) completeGroups(driver string) {
	for i, g := range s.cast.playedGroups() {
		if len(g.sources) == 0 {
			g.sources = s.cast.selected(g)
		}
		if len(g.sources) == 0 {
			g.sources = []*volume{s.cast.volume(fmt.Sprintf("source-of-group-%d", i+1), "", "", cmp.Or(g.driver, driver))}
		}
		namespace, name, _ := strings.Cut(g.name, "/")
		for _, v := range g.sources {
			if known, _, is := strings.Cut(v.claim, "/"); namespace == "" && is {
				namespace = known
			}
		}
		namespace = cmp.Or(namespace, "default")
		g.name = namespace + "/" + cmp.Or(name, fmt.Sprintf("group-%d", i+1))
		g.driver = cmp.Or(g.driver, g.sources[0].driver, driver)
		if g.selector == nil || !g.label() {
			g.selector = map[string]string{fmt.Sprintf("imported-group-%d", i+1): "member"}
			g.label()
		}
		for _, v := range append(slices.Clone(g.sources), s.cast.restoredFromMembers(g)...) {
			v.claim = cmp.Or(v.claim, namespace+"/"+plain(cmp.Or(v.pv, v.handle)))
		}
	}
}

// selected lists the volumes of the claims that a group selects by their labels.
func (c *cast) selected(g *group) []*volume {
	namespace, _, _ := strings.Cut(g.name, "/")
	return slices.DeleteFunc(c.all(), func(v *volume) bool {
		if g.selector == nil || !strings.HasPrefix(v.claim, namespace+"/") {
			return true
		}
		for key, value := range g.selector { // in any order: each must match
			if v.labels[key] != value {
				return true
			}
		}
		return false
	})
}

// label adds the selected labels to the claims of a group. It returns false if one of these claims
// has another value for a label.
func (g *group) label() bool {
	for _, v := range g.sources {
		for key, value := range g.selector { // in any order: one is enough
			if known, is := v.selectors[key]; is && known != value {
				return false
			}
		}
	}
	for _, v := range g.sources {
		if v.selectors == nil {
			v.selectors = map[string]string{}
		}
		maps.Copy(v.selectors, g.selector)
	}
	return true
}

// restoredFromMembers lists the volumes that come from members of a group.
func (c *cast) restoredFromMembers(g *group) []*volume {
	return slices.DeleteFunc(c.all(), func(v *volume) bool { return v.restores == nil || v.restores.in != g })
}

// memberSource returns the source of a claim that comes from a member of a group. The member has a
// generated name, so a scenario refers to it by the claim of its volume.
func (v *volume) memberSource() map[string]any {
	namespace, _, _ := strings.Cut(v.claim, "/")
	if v.restores.source == nil || !strings.HasPrefix(v.restores.source.claim, namespace+"/") {
		return nil
	}
	return map[string]any{"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "pvc/" + v.restores.source.claim[len(namespace)+1:]}
}

// groupClasses returns the classes of the groups.
func (s *Story) groupClasses() (all []map[string]any) {
	seen := map[string]bool{}
	for _, g := range s.cast.playedGroups() {
		if name := g.className(); !seen[name] {
			seen[name] = true
			all = append(all, s.classOf(&g.taken, groupAPI, "VolumeGroupSnapshotClass", ofGroups))
		}
	}
	return all
}

const (
	groupAPI = "groupsnapshot.storage.k8s.io/v1"
	// ofGroups distinguishes classes of groups from those of volumes.
	ofGroups = "group snapshot class "
)

// manifest returns the VolumeGroupSnapshot.
func (g *group) manifest() map[string]any {
	selector := map[string]any{"matchLabels": g.selector}
	return g.object(groupAPI, "VolumeGroupSnapshot", map[string]any{"volumeGroupSnapshotClassName": g.className(), "source": map[string]any{"selector": selector}})
}

// groupSteps makes and deletes groups at their times. Old groups are created before the story.
func (s *Story) groupSteps() (all []step) {
	for _, g := range s.cast.playedGroups() {
		all = append(all, g.steps("volumegroupsnapshot", g.manifest())...)
	}
	return all
}

package reenact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// played lists the snapshots of the scenario: snapshots that are created or deleted, and those from
// which a volume is restored. Groups create their members themselves.
func (c *cast) played() []*snapshot {
	return slices.DeleteFunc(slices.Clone(c.inOrder), func(n *snapshot) bool {
		return n.in != nil || n.isOld && n.deleted == 0 && n.restored == 0
	})
}

// completeSnapshots invents the names and sources that the logs lack, and suitable sizes.
func (s *Story) completeSnapshots(driver string) {
	for i, n := range s.cast.played() {
		namespace, name, _ := strings.Cut(n.name, "/")
		restored := s.cast.restoredFrom(n)
		if n.source == nil {
			n.source = s.cast.volume(fmt.Sprintf("source-of-snapshot-%d", i+1), "", "", cmp.Or(n.driver, driver))
		}
		for _, v := range append([]*volume{n.source}, restored...) {
			if known, _, is := strings.Cut(v.claim, "/"); namespace == "" && is {
				namespace = known
			}
		}
		namespace = cmp.Or(namespace, "default")
		for _, v := range append([]*volume{n.source}, restored...) {
			v.claim = cmp.Or(v.claim, namespace+"/"+plain(cmp.Or(v.pv, v.handle)))
			n.source.size = cmp.Or(n.source.size, v.size)
		}
		n.name = namespace + "/" + cmp.Or(name, fmt.Sprintf("snapshot-%d", i+1))
		n.driver = cmp.Or(n.driver, n.source.driver, driver)
	}
}

// restoredFrom lists the volumes that come from a snapshot, by their names.
func (c *cast) restoredFrom(n *snapshot) []*volume {
	return slices.DeleteFunc(c.all(), func(v *volume) bool { return v.restores != n })
}

// dataSource returns the source of a claim, in the claim's namespace; nil if it has none.
func (v *volume) dataSource() map[string]any {
	namespace, _, _ := strings.Cut(v.claim, "/")
	switch {
	case v.restores != nil && v.restores.in != nil:
		return v.memberSource()
	case v.restores != nil && strings.HasPrefix(v.restores.name, namespace+"/"):
		return map[string]any{"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": v.restores.name[len(namespace)+1:]}
	case v.clones != nil && strings.HasPrefix(v.clones.claim, namespace+"/"):
		return map[string]any{"kind": "PersistentVolumeClaim", "name": v.clones.claim[len(namespace)+1:]}
	}
	return nil
}

// snapshotClasses returns the classes of the snapshots.
func (s *Story) snapshotClasses() (all []map[string]any) {
	seen := map[string]bool{}
	for _, n := range s.cast.played() {
		if name := n.className(); !seen[name] {
			seen[name] = true
			all = append(all, s.classOf(&n.taken, snapshotAPI, "VolumeSnapshotClass", ofSnapshots))
		}
	}
	return all
}

const (
	snapshotAPI = "snapshot.storage.k8s.io/v1"
	// ofSnapshots distinguishes classes of snapshots from those of volumes.
	ofSnapshots = "snapshot class "
)

// manifest returns the VolumeSnapshot.
func (n *snapshot) manifest() map[string]any {
	_, claim, _ := strings.Cut(n.source.claim, "/")
	return n.object(snapshotAPI, "VolumeSnapshot", map[string]any{"volumeSnapshotClassName": n.className(), "source": map[string]any{"persistentVolumeClaimName": claim}})
}

// snapshotSteps makes and deletes snapshots at their times. Old snapshots are created before the
// story.
func (s *Story) snapshotSteps() (all []step) {
	for _, n := range s.cast.played() {
		all = append(all, n.steps("volumesnapshot", n.manifest())...)
	}
	return all
}

// snapshotOptions are the options of the mock that snapshots and clones need.
func (s *Story) snapshotOptions(driver string, options map[string]any) {
	polls := 0
	for _, n := range s.cast.played() {
		if n.driver == driver {
			options["snapshot"] = true
			polls = max(polls, n.polls)
		}
	}
	for _, g := range s.cast.playedGroups() {
		if g.driver == driver {
			options["snapshot"], options["groupSnapshot"] = true, true
			polls = max(polls, g.polls)
		}
	}
	if polls > 0 {
		options["snapshotPolls"] = polls
	}
	if slices.ContainsFunc(s.cast.all(), func(v *volume) bool { return v.clones != nil && v.driver == driver }) {
		options["clone"] = true
	}
}

// snapshotNamespaces adds the namespaces of the snapshots and groups.
func (c *cast) snapshotNamespaces(found map[string]bool) {
	for _, n := range c.played() {
		namespace, _, _ := strings.Cut(n.name, "/")
		found[namespace] = true
	}
	for _, g := range c.playedGroups() {
		namespace, _, _ := strings.Cut(g.name, "/")
		found[namespace] = true
	}
}

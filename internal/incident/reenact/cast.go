package reenact

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/version"
)

// cast holds the objects of a story.
type cast struct {
	volumes map[string]*volume // by handle, otherwise by PersistentVolume
	byPV    map[string]*volume
	byClaim map[string]*volume
	pods    map[string]*pod // by name, or by uid
	uids    map[string]string
	nodes   map[string]bool
	kubelet map[string]version.Version // of nodes with a known release
	classes map[string]map[string]any
	methods map[string]map[string]bool // the methods called, by driver
	// snapshots holds the snapshots by all of their names, and inOrder holds them in their order.
	snapshots map[string]*snapshot
	inOrder   []*snapshot
	// groups and groupsInOrder hold the groups of snapshots in the same way.
	groups        map[string]*group
	groupsInOrder []*group
}

// volume is a volume with its claim.
type volume struct {
	handle, pv, claim, driver string
	class                     string
	modes                     []any
	size, mode                string
	// isNew means that the story provisions the volume, at madeAt.
	isNew  bool
	madeAt time.Duration
	// deleted is the time at which its claim is deleted, and grown the time at which it is
	// expanded; 0 for never.
	deleted, grown time.Duration
	// restores is the snapshot and clones the volume from which it is created; nil for none.
	restores *snapshot
	clones   *volume
	// labels are the labels of its claim. selectors are the labels by which groups select it in the
	// scenario.
	labels, selectors map[string]string
}

// pod is a pod with one volume or more.
type pod struct {
	name, node string
	volumes    []*volume
	// isOld means that it already ran before the story. Otherwise the story creates it at this
	// time.
	isOld   bool
	created time.Duration
	deleted time.Duration // 0: it stays
}

func newCast() *cast {
	return &cast{
		volumes: map[string]*volume{}, byPV: map[string]*volume{}, byClaim: map[string]*volume{}, pods: map[string]*pod{}, uids: map[string]string{},
		nodes: map[string]bool{}, kubelet: map[string]version.Version{}, classes: map[string]map[string]any{}, methods: map[string]map[string]bool{}, snapshots: map[string]*snapshot{}, groups: map[string]*group{},
	}
}

// volume returns the volume with the given names, some of which may be empty; nil if all are.
func (c *cast) volume(handle, pv, claim, driver string) *volume {
	var v *volume
	for _, known := range []*volume{c.volumes[handle], c.byPV[pv], c.byClaim[claim], c.byPV[handle], c.volumes[pv]} {
		if v == nil && known != nil {
			v = known
		}
	}
	if handle == "" && pv == "" && claim == "" {
		return nil
	}
	if v == nil {
		v = &volume{}
	}
	for _, f := range []struct {
		to *string
		of string
		in map[string]*volume
	}{{&v.handle, handle, c.volumes}, {&v.pv, pv, c.byPV}, {&v.claim, claim, c.byClaim}} {
		if f.of != "" {
			*f.to = f.of
			f.in[f.of] = v
		}
	}
	v.driver = cmp.Or(driver, v.driver)
	return v
}

// pod returns a pod by its name or uid, which may be new.
func (c *cast) pod(name string, at time.Duration) *pod {
	name = cmp.Or(c.uids[name], name)
	p := c.pods[name]
	if p == nil {
		p = &pod{name: name, created: at}
		c.pods[name] = p
	}
	return p
}

// uses notes that a pod on a node uses a volume.
func (p *pod) uses(v *volume, node string) {
	if v != nil && !slices.Contains(p.volumes, v) {
		p.volumes = append(p.volumes, v)
	}
	p.node = cmp.Or(p.node, node)
}

// on reports whether a pod on the node uses the volume.
func (c *cast) on(v *volume, node string) bool {
	for _, p := range c.pods { // in any order: one is enough
		if p.node == node && slices.Contains(p.volumes, v) {
			return true
		}
	}
	return false
}

// all lists the distinct volumes by their names.
func (c *cast) all() []*volume {
	distinct := map[*volume]bool{}
	for _, group := range []map[string]*volume{c.volumes, c.byPV, c.byClaim} {
		for _, v := range group { // in any order: they are sorted below
			distinct[v] = true
		}
	}
	return slices.SortedFunc(maps.Keys(distinct), func(a, b *volume) int {
		return cmp.Or(strings.Compare(a.label(), b.label()), strings.Compare(a.handle, b.handle))
	})
}

func (v *volume) label() string { return cmp.Or(v.pv, v.claim, v.handle) }

// ordered lists the pods with volumes by their names.
func (c *cast) ordered() (all []*pod) {
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		if p := c.pods[name]; len(p.volumes) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// driverNames lists the drivers of the volumes, snapshots and groups.
func (c *cast) driverNames() []string {
	names := map[string]bool{}
	for _, v := range c.all() {
		if v.driver != "" {
			names[v.driver] = true
		}
	}
	for _, n := range c.played() {
		if n.driver != "" {
			names[n.driver] = true
		}
	}
	for _, g := range c.playedGroups() {
		if g.driver != "" {
			names[g.driver] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

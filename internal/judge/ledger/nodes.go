package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// mounts enters the mounts of a machine that no pod needs. n is nil for the control plane's
// machine.
func (a *accountant) mounts(m machine.Machine, n *Node) {
	table, err := m.Mounts()
	if err != nil {
		a.unseen("mounts of "+m.Name(), err)
		return
	}
	for i, key := range mountKeys(table) {
		made := a.Watch.origins.MadeIn(mountsOf(m), key)
		e := Entry{Kind: Mount, Name: table[i].Target, Node: m.Name()}
		place := Dir(m.Layout().KubeletDir()).Locate(e.Name)
		switch {
		case a.Watch.byHand[m.Name()][e.Name]: // no driver has to remove it
		case n != nil && place.Owned():
			if !a.needs[n.Name].accountsFor(place, true) {
				a.enter(e, place, made, n)
			}
		case made != nil && !a.inUse(made): // mounts that no call has made belong to the driver
			a.history.InCall(&e, made)
			a.add(e)
		}
	}
}

// enter adds an entry for a leftover below the kubelet's directory, with the call to blame.
func (a *accountant) enter(e Entry, place Place, made *trace.Event, n *Node) {
	a.history.OnNode(&e, place, made)
	if !n.Kubelet && (place.Kubelet || !e.SaidToBeGone()) {
		e.Litter = "it could not be removed yet: no kubelet runs on " + n.Name
	}
	a.add(e)
}

// inUse reports whether a call's volume is still needed: on the call's node or, for a controller
// plugin, on any node.
func (a *accountant) inUse(call *trace.Event) bool {
	id := VolumeOf(call)
	if n := a.needs[call.Node]; n != nil {
		return n.handles[call.Driver+"^"+id]
	}
	return Makes(call) && a.hasVolume(call.Driver, id)
}

// directories enters the leftovers in the kubelet's directories for pods and volumes.
func (a *accountant) directories(n *Node) {
	w := &litterWalk{accountant: a, node: n, mounted: map[string]bool{}}
	if table, err := n.Machine.Mounts(); err == nil {
		for _, m := range table {
			w.mounted[m.Target] = true
		}
	}
	w.walk(w.dir().podsDir())
	w.walk(w.dir().pluginDir())
}

// litterWalk visits a node's directories.
type litterWalk struct {
	*accountant
	node    *Node
	mounted map[string]bool
}

func (w *litterWalk) dir() Dir { return Dir(w.node.Machine.Layout().KubeletDir()) }

// walk examines the entries of a directory that is not a leftover itself.
func (w *litterWalk) walk(dir string) {
	for _, name := range w.list(dir) {
		place := w.dir().Locate(name)
		switch {
		case w.mounted[name]: // it is among the mounts
		case place.Owned() && !w.needs[w.node.Name].accountsFor(place, false):
			if !w.leaves(name) {
				w.enter(Entry{Kind: Directory, Name: name, Node: w.node.Name}, place, nil, w.node)
			}
		case !place.Owned() || place.IsShared():
			w.walk(name)
		}
	}
}

// leaves enters the files, staging and target directories below the leftover directory called name.
// It reports whether it found a leftover or a mount.
func (w *litterWalk) leaves(name string) bool {
	info, err := w.node.Machine.Lstat(name)
	if err != nil || w.mounted[name] {
		return w.mounted[name]
	}
	place := w.dir().Locate(name)
	if place.Container {
		return false
	}
	e := Entry{Kind: Directory, Name: name, Node: w.node.Name}
	if !info.IsDir() {
		e.Kind = File
		if path.Base(name) == "vol_data.json" {
			e.Kind = VolumeData
		}
		w.enter(e, place, nil, w.node)
		return true
	}
	found := false
	for _, below := range w.list(name) {
		found = w.leaves(below) || found
	}
	if !found && (name == place.Staging || name == place.Target) {
		if w.StagesNot(place.Driver) { // K-STAGE-2
			e.Litter = "the kubelet's own litter: it makes a staging directory also for a driver that does not stage, and leaves it for ever"
		}
		w.enter(e, place, nil, w.node)
		found = true
	}
	return found
}

// list returns the paths of a directory's entries; none for another type of file.
func (w *litterWalk) list(dir string) []string {
	entries, err := w.node.Machine.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if info, failed := w.node.Machine.Lstat(dir); failed == nil && info.IsDir() {
			w.unseen(fmt.Sprintf("directory %s on %s", dir, w.node.Name), err)
		}
	}
	var names []string
	for _, e := range entries {
		names = append(names, path.Join(dir, e.Name()))
	}
	return names
}

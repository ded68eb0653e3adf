package store

import "slices"

// audience holds the watches of one resource: watches of the whole resource, of one object, and of
// one value of an index. A commit finds its watches without checking any others.
type audience struct {
	all     []*watch
	byKey   map[Key][]*watch
	byIndex map[Index]map[string][]*watch
}

// listening is the initial capacity for watches of a resource. Most clusters need fewer.
const listening = 4

// audiences returns an audience with that capacity for each resource.
func audiences() byResource[audience] {
	all, room := make(byResource[audience], len(inOrder)), make([]*watch, listening*len(inOrder))
	for i := range all {
		all[i].all, room = room[:0:listening], room[listening:]
	}
	return all
}

func (a *audience) add(w *watch) { a.set(w.sel, append(a.get(w.sel), w)) }

func (a *audience) remove(w *watch) { a.set(w.sel, without(a.get(w.sel), w)) }

func (a *audience) get(sel *Selector) []*watch {
	switch sel.index {
	case "":
		return a.all
	case byKey:
		return a.byKey[sel.key]
	}
	return a.byIndex[sel.index][sel.value]
}

func (a *audience) set(sel *Selector, watches []*watch) {
	switch sel.index {
	case "":
		a.all = watches
	case byKey:
		if a.byKey == nil {
			a.byKey = map[Key][]*watch{}
		}
		put(a.byKey, sel.key, watches)
	default:
		if a.byIndex == nil {
			a.byIndex = map[Index]map[string][]*watch{}
		}
		if a.byIndex[sel.index] == nil {
			a.byIndex[sel.index] = map[string][]*watch{}
		}
		put(a.byIndex[sel.index], sel.value, watches)
	}
}

// put sets the watches of a key, and removes the key if there are none.
func put[K comparable](in map[K][]*watch, at K, watches []*watch) {
	if len(watches) == 0 {
		delete(in, at)
		return
	}
	in[at] = watches
}

// dispatch delivers a commit to the views with watches that match it. Watches of the whole resource
// come first, then the watches of each index, in the order in which they were opened.
func (a *audience) dispatch(c *commit, moves []move) {
	if a == nil {
		return
	}
	c.send(a.all)
	if len(a.byKey) > 0 {
		c.send(a.byKey[c.Key])
	}
	for _, m := range moves {
		watches := a.byIndex[m.index.index]
		if len(watches) == 0 {
			continue
		}
		for _, value := range m.now {
			c.send(watches[value])
		}
		for _, value := range m.old {
			if !slices.Contains(m.now, value) {
				c.send(watches[value])
			}
		}
	}
}

func (c *commit) send(watches []*watch) {
	for _, w := range watches {
		w.view.receive(c, w)
	}
}

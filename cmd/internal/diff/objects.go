package diff

import (
	"fmt"
	"slices"
	"strings"
)

// byField lists the resources with several writers. Their objects are compared field by field.
var byField = map[string]bool{"nodes": true, "volumegroupreplications": true, "volumegroupreplicationcontents": true}

// compareObjects compares the changes of every object.
func (d *comparison) compareObjects() {
	a, b := d.a.byObject(d.plays()), d.b.byObject(d.plays())
	for _, o := range union(a, b, objectOrder) {
		if d.foreign(o, a[o], b[o]) {
			d.allow(Bystanders)
		} else if byField[o.resource] {
			d.compareNode(o, a[o], b[o])
		} else {
			d.compareObject(o, a[o], b[o])
		}
	}
}

func objectOrder(x, y object) int {
	return strings.Compare(x.resource+" "+x.name, y.resource+" "+y.name)
}

// plays returns the drivers with a part in the scenario, in either trace.
func (d *comparison) plays() map[string]bool {
	drivers := map[string]bool{}
	for _, s := range []*side{d.a, d.b} {
		for driver := range s.names.drivers {
			drivers[driver] = true
		}
	}
	return drivers
}

// byObject sorts the changes by object. It leaves out objects without a part in the scenario, and
// the removal of finalizers during a deletion.
func (s *side) byObject(drivers map[string]bool) map[object][]*change {
	all := map[object][]*change{}
	state := map[object]map[string]any{}
	for _, o := range union(s.initial, nil, objectOrder) {
		state[o] = s.initial[o]
	}
	for _, c := range s.changes {
		if leftOver(c.object.name) && c.how != "ADDED" && all[c.object] == nil {
			s.allow(LeftOver, "")
			continue
		}
		if s.withoutPart(c.object, drivers) {
			s.allow(Bystanders, "")
			continue
		}
		if c.how == "ADDED" {
			state[c.object] = nil
		}
		before := state[c.object]
		state[c.object] = merged(before, c.content)
		if c.how == "MODIFIED" {
			c.content = s.withoutLastFinalizers(c.content, state[c.object])
			c.content = s.withoutSecondDeletion(before, c.content)
			c.content = s.withoutSameConditions(before, c.content)
		}
		c.content = s.withoutBystanders(c.object, before, c.content, drivers)
		if c.how == "MODIFIED" && len(c.content) == 0 {
			continue
		}
		all[c.object] = append(all[c.object], c)
	}
	return all
}

// withoutLastFinalizers returns a patch without the finalizers of an object under deletion.
func (s *side) withoutLastFinalizers(patch, after map[string]any) map[string]any {
	if !has(patch, "metadata", "finalizers") || text(after, "metadata", "deletionTimestamp") == "" {
		return patch
	}
	s.allow(LastFinalizers, "")
	return without(patch, "metadata", "finalizers")
}

// withoutSecondDeletion returns a patch without the deletionTimestamp of an object that has one.
func (s *side) withoutSecondDeletion(before, patch map[string]any) map[string]any {
	if !has(patch, "metadata", "deletionTimestamp") || text(before, "metadata", "deletionTimestamp") == "" {
		return patch
	}
	s.allow(TransitionTime, "")
	return without(patch, "metadata", "deletionTimestamp")
}

// without returns a copy of a nested map without the field at the path, and without maps that
// become empty.
func without(object map[string]any, path ...string) map[string]any {
	out := merged(object, nil)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	inner, ok := object[path[0]].(map[string]any)
	if !ok {
		return out
	}
	if inner = without(inner, path[1:]...); len(inner) == 0 {
		delete(out, path[0])
	} else {
		out[path[0]] = inner
	}
	return out
}

// String renders the change as text, the same for equal changes.
func (c *change) String() string {
	if c.text == "" {
		c.text = c.how
		if c.content != nil {
			c.text += " " + canonical(c.content)
		}
	}
	return c.text
}

// fields returns the names of the changed fields.
func (c *change) fields() []string {
	if c.named == nil {
		c.named = append([]string{}, leaves(c.content)...)
	}
	return c.named
}

// compareObject compares the changes of one object in order.
func (d *comparison) compareObject(o object, a, b []*change) {
	rows := align(len(a), len(b), costs{
		pair: func(i, j int) float64 {
			switch {
			case a[i].String() == b[j].String():
				return 0
			case a[i].how != b[j].how:
				return 9
			case slices.Equal(a[i].fields(), b[j].fields()):
				return 1
			default:
				return 1.8
			}
		},
		onlyA: constant(1), onlyB: constant(1),
	})
	shown := sideBySide(rows, a, b, func(c *change) Cell { return Cell{c.at, c.String()} })
	for i, row := range rows {
		switch {
		case shown[i].Same:
			d.compared(Objects)
		case row.b < 0:
			d.differ(Objects, o.String(), "a change is only in A: "+a[row.a].gist(), shown, i)
		case row.a < 0:
			d.differ(Objects, o.String(), "a change is only in B: "+b[row.b].gist(), shown, i)
		default:
			d.differ(Objects, o.String(), describe(a[row.a].content, b[row.b].content), shown, i)
		}
	}
}

// gist summarizes a change.
func (c *change) gist() string {
	if c.how != "MODIFIED" {
		return c.how
	}
	return strings.Join(c.fields(), ", ")
}

func describe(a, b map[string]any) string {
	fields := unequalFields(a, b)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.path
	}
	return strings.Join(names, ", ")
}

// leaf is a field of a change with a value.
type leaf struct {
	path  []string
	value any
}

func (l leaf) String() string { return strings.Join(l.path, ".") }

// leavesOf returns all fields of a change with values.
func leavesOf(content map[string]any, at ...string) (all []leaf) {
	for _, key := range sortedKeys(content) {
		path := append(at[:len(at):len(at)], key)
		if inner, ok := content[key].(map[string]any); ok && len(inner) > 0 {
			all = append(all, leavesOf(inner, path...)...)
		} else {
			all = append(all, leaf{path, content[key]})
		}
	}
	return all
}

// leaves returns the names of all fields of a change.
func leaves(content map[string]any) (names []string) {
	for _, l := range leavesOf(content) {
		names = append(names, l.String())
	}
	return names
}

// overlaid merges two patches into one.
func overlaid(first, second map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range sortedKeys(first) {
		out[key] = first[key]
	}
	for _, key := range sortedKeys(second) {
		was, ok1 := out[key].(map[string]any)
		is, ok2 := second[key].(map[string]any)
		if ok1 && ok2 {
			out[key] = overlaid(was, is)
		} else {
			out[key] = second[key]
		}
	}
	return out
}

// compareStart compares the objects that exist at the first step.
func (d *comparison) compareStart() {
	if !d.a.hasStart || !d.b.hasStart {
		if d.a.hasStart != d.b.hasStart {
			d.allow(Abridged)
		}
		return
	}
	drivers := d.plays()
	for _, o := range union(d.a.initial, d.b.initial, objectOrder) {
		a, inA := d.a.initial[o]
		b, inB := d.b.initial[o]
		switch {
		case !inA || !inB:
			d.startsAlone(o, inA, drivers)
		default:
			d.compared(Objects)
			a, b = d.a.atStart(o, a, drivers), d.b.atStart(o, b, drivers)
			for _, f := range unequalFields(a, b) {
				d.differ(Objects, o.String(), "at the start: "+f.path, []Row{{A: cell(0, f.a), B: cell(0, f.b)}}, 0)
			}
		}
	}
}

// startsAlone reports an object that only one trace has at the start. A driver or class without a
// part in the scenario is a bystander.
func (d *comparison) startsAlone(o object, inA bool, drivers map[string]bool) {
	start := d.b.initial[o]
	if inA {
		start = d.a.initial[o]
	}
	switch {
	case d.a.withoutPart(o, drivers) && d.b.withoutPart(o, drivers):
		d.allow(Bystanders)
		return
	case leftOver(o.name):
		d.allow(LeftOver)
		return
	}
	row := Row{A: cell(0, canonical(start))}
	if !inA {
		row = Row{B: row.A}
	}
	d.differ(Objects, o.String(), fmt.Sprintf("at the start: only in %s", map[bool]string{true: "A", false: "B"}[inA]), []Row{row}, 0)
}

// withoutPart reports whether an object has no part in the scenario.
func (s *side) withoutPart(o object, drivers map[string]bool) bool {
	switch o.resource {
	case "csidrivers":
		return !drivers[o.name]
	case "storageclasses":
		return !s.classUsed(o.name)
	default:
		return false
	}
}

func (s *side) classUsed(class string) bool {
	return slices.ContainsFunc(s.changes, func(c *change) bool {
		return c.object.resource == "persistentvolumeclaims" && text(c.content, "spec", "storageClassName") == class
	})
}

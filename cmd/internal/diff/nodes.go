package diff

import (
	"encoding/json"
	"slices"
	"strings"
)

const nodeIDs = "csi.volume.kubernetes.io/nodeid"

// withoutBystanders returns a change without the parts about drivers that are not involved.
func (s *side) withoutBystanders(o object, before, content map[string]any, drivers map[string]bool) map[string]any {
	switch o.resource {
	case "csinodes":
		return s.csiNode(before, content, drivers)
	case "nodes":
		return s.nodeObject(content, drivers)
	default:
		return content
	}
}

// bystanderOn reports whether a driver that takes no part in the scenario is or was on the node.
func (s *side) bystanderOn(node string, drivers map[string]bool) bool {
	on := object{"csinodes", node}
	known := list(field(s.initial[on], "spec", "drivers"))
	for _, c := range s.changes {
		if c.object == on {
			known = append(known, list(field(c.line.Obj, "spec", "drivers"))...)
			known = append(known, list(field(c.line.Patch, "spec", "drivers"))...)
		}
	}
	return slices.ContainsFunc(known, func(entry any) bool { return !drivers[text(entry, "name")] })
}

// atStart returns an object of the initial state, without bystanders and properties of the machine.
func (s *side) atStart(o object, content map[string]any, drivers map[string]bool) map[string]any {
	content = without(content, "metadata", "uid")
	return merged(nil, s.withoutBystanders(o, nil, content, drivers))
}

// csiNode keeps in spec.drivers only drivers with a part in the scenario.
func (s *side) csiNode(before, content map[string]any, drivers map[string]bool) map[string]any {
	if !has(content, "spec", "drivers") {
		return content
	}
	is, was := playing(field(content, "spec", "drivers"), drivers), playing(field(before, "spec", "drivers"), drivers)
	if len(is) != len(list(field(content, "spec", "drivers"))) {
		s.allow(Bystanders, "")
	}
	if before != nil && canonical(is) == canonical(was) {
		return without(content, "spec", "drivers")
	}
	return overlaid(content, map[string]any{"spec": map[string]any{"drivers": is}})
}

// playing returns the drivers of a CSINode that take part in the scenario, by name.
func playing(all any, drivers map[string]bool) []any {
	kept := []any{}
	for _, entry := range list(all) {
		if drivers[text(entry, "name")] {
			kept = append(kept, entry)
		}
	}
	slices.SortFunc(kept, func(x, y any) int { return strings.Compare(text(x, "name"), text(y, "name")) })
	return kept
}

// nodeObject keeps the node ids of drivers with a part in the scenario, and no sizes.
func (s *side) nodeObject(content map[string]any, drivers map[string]bool) map[string]any {
	if has(content, "status", "allocatable") {
		s.allow(MachineCapacity, "")
		content = without(content, "status", "allocatable")
	}
	ids := text(content, "metadata", "annotations", nodeIDs)
	if ids == "" {
		return content
	}
	all, kept := map[string]any{}, map[string]any{}
	if err := json.Unmarshal([]byte(ids), &all); err != nil {
		return content
	}
	for driver, id := range all {
		if drivers[driver] {
			kept[driver] = id
		}
	}
	if len(kept) != len(all) {
		s.allow(Bystanders, "")
	}
	var value any
	if len(kept) > 0 {
		value = canonical(kept)
	}
	return overlaid(content, map[string]any{"metadata": map[string]any{"annotations": map[string]any{nodeIDs: value}}})
}

// fieldChange is one change of one field of a Node.
type fieldChange struct {
	at   int64
	text string
}

// compareNode compares each field of a Node, or of another object in byField, separately.
func (d *comparison) compareNode(o object, a, b []*change) {
	fieldsA, fieldsB := d.a.nodeFields(o, a), d.b.nodeFields(o, b)
	if len(fieldsA) > 1 && len(a) > 1 {
		d.allow(NodeFields)
	}
	for _, name := range union(fieldsA, fieldsB, strings.Compare) {
		d.compareField(o.String()+" "+name, fieldsA[name], fieldsB[name])
	}
}

// nodeFields returns the changes of a Node by field. For lists of volumes, it returns them by
// volume.
func (s *side) nodeFields(o object, changes []*change) map[string][]fieldChange {
	fields := map[string][]fieldChange{}
	state := s.initial[o]
	for _, c := range changes {
		add := func(name, text string) { fields[name] = append(fields[name], fieldChange{c.at, text}) }
		if c.how != "MODIFIED" {
			add("itself", c.how)
		}
		for _, l := range leavesOf(c.content) {
			switch name := l.String(); {
			case name == "status.volumesInUse" || name == "status.volumesAttached":
				for _, v := range volumesOf(field(state, l.path...), l.value) {
					add(l.path[1]+" "+v.volume, v.what)
				}
			case c.how == "MODIFIED" || o.resource != "nodes":
				add(name, shown(l.value))
			}
		}
		state = merged(state, c.content)
	}
	for name, all := range fields {
		fields[name] = slices.CompactFunc(all, func(x, y fieldChange) bool { return x.text == y.text })
	}
	return fields
}

// volumeChange is a volume that is added to a list or removed from it.
type volumeChange struct{ volume, what string }

func volumesOf(before, after any) (changes []volumeChange) {
	was, is := volumeSet(before), volumeSet(after)
	for _, v := range union(was, is, strings.Compare) {
		switch {
		case was[v] && !is[v]:
			changes = append(changes, volumeChange{v, "removed"})
		case is[v] && !was[v]:
			changes = append(changes, volumeChange{v, "added"})
		}
	}
	return changes
}

func volumeSet(value any) map[string]bool {
	set := map[string]bool{}
	for _, item := range list(value) {
		if name, ok := item.(string); ok {
			set[name] = true
		} else {
			set[strings.TrimSpace(text(item, "name")+" "+text(item, "devicePath"))] = true
		}
	}
	return set
}

func (d *comparison) compareField(subject string, a, b []fieldChange) {
	rows := align(len(a), len(b), costs{
		pair: func(i, j int) float64 {
			if a[i].text == b[j].text {
				return 0
			}
			return 1.5
		},
		onlyA: constant(1), onlyB: constant(1),
	})
	shown := sideBySide(rows, a, b, func(c fieldChange) Cell { return Cell{c.at, c.text} })
	for i, row := range rows {
		switch {
		case shown[i].Same:
			d.compared(Objects)
		case row.b < 0:
			d.differ(Objects, subject, "a change is only in A", shown, i)
		case row.a < 0:
			d.differ(Objects, subject, "a change is only in B", shown, i)
		default:
			d.differ(Objects, subject, "the value", shown, i)
		}
	}
}

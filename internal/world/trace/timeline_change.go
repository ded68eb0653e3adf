package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// change describes a change of an API object. Described fields are removed from the patch.
type change struct {
	names  *names
	before map[string]any
	patch  map[string]any
	words  []string
}

// change describes an API write.
func (t *narrator) change(shown *entry, e *Event, line Line, before map[string]any) {
	object := t.names.object(e.Resource, e.Name)
	switch e.Change {
	case "DELETED":
		shown.text = object + "  gone"
	case "MODIFIED":
		c := &change{names: t.names, before: before, patch: line.Patch}
		c.describe(e.Resource)
		shown.text = object + "  " + strings.Join(c.words, ", ")
		if len(c.words) == 0 {
			shown.text, shown.hidden = object+"  written, nothing that a trace keeps has changed", !t.verbose
		}
	default:
		made, _ := line.Obj.(map[string]any)
		t.remember(e, made)
		shown.text = strings.TrimSuffix(object+"  created: "+t.created(e.Resource, made), ": ")
	}
}

// remember records the names of uids in later lines.
func (t *narrator) remember(e *Event, made map[string]any) {
	if e.Resource == "pods" {
		if uid, ok := at(made, "metadata", "uid").(string); ok {
			t.names.pods[uid] = e.Name
		}
	}
}

func (c *change) describe(resource string) {
	c.deletion()
	if words := changeWords[resource]; words != nil {
		words(c)
	}
	c.finalizers()
	c.keyed("annotated", "annotations")
	c.keyed("labelled", "labels")
	for _, boring := range [][]string{
		{"metadata", "deletionGracePeriodSeconds"}, {"metadata", "uid"}, {"status", "lastPhaseTransitionTime"},
	} {
		c.take(boring...)
	}
	c.rest("", c.patch)
}

func (c *change) say(format string, args ...any) {
	c.words = append(c.words, fmt.Sprintf(format, args...))
}

// at returns the value at a path; nil if there is none.
func at(object map[string]any, names ...string) any {
	for _, name := range names[:len(names)-1] {
		object, _ = object[name].(map[string]any)
	}
	return object[names[len(names)-1]]
}

// was returns the value before the change.
func (c *change) was(names ...string) any { return at(c.before, names...) }

// take returns the new value at a path (nil if it was removed), and whether it changed. It removes
// the value, so that it is not described again.
func (c *change) take(names ...string) (value any, changed bool) {
	last := len(names) - 1
	patch := c.within(names[:last]...)
	value, changed = patch[names[last]]
	delete(patch, names[last])
	return value, changed
}

// within returns the patch for the object at a path; nil if the object did not change.
func (c *change) within(names ...string) map[string]any {
	patch, before := c.patch, c.before
	for _, name := range names {
		if inner, ok := patch[name]; ok && inner == nil {
			patch[name] = removals(before[name])
		}
		patch, _ = patch[name].(map[string]any)
		before, _ = before[name].(map[string]any)
	}
	return patch
}

// removals returns the patch that removes every field of an object, instead of the object.
func removals(object any) map[string]any {
	patch := map[string]any{}
	fields, _ := object.(map[string]any)
	for name := range fields {
		patch[name] = nil
	}
	return patch
}

// rest lists the remaining fields compactly: path=value, or −path.
func (c *change) rest(path string, patch map[string]any) {
	for _, name := range sortedKeys(patch) {
		full := strings.TrimPrefix(path+"."+name, ".")
		switch value := patch[name].(type) {
		case nil:
			c.say("−%s", full)
		case map[string]any:
			c.rest(full, value)
		default:
			c.say("%s=%s", full, c.names.in(c.short(value)))
		}
	}
}

// short returns a value that may be cut.
func (c *change) short(value any) string { return c.names.cut(compact(value)) }

// compact returns a value on one line: a string unchanged, the rest as JSON.
func compact(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sortedKeys(fields map[string]any) []string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lists describes the items that were added to a list and removed from it.
func (c *change) lists(what string, after, before any, name func(any) string) {
	now, was := namesOf(after, name), namesOf(before, name)
	for _, n := range now {
		if !slices.Contains(was, n) {
			c.say("%s + %s", what, n)
		}
	}
	for _, n := range was {
		if !slices.Contains(now, n) {
			c.say("%s − %s", what, n)
		}
	}
}

func namesOf(list any, name func(any) string) []string {
	items, _ := list.([]any)
	all := make([]string, 0, len(items))
	for _, item := range items {
		all = append(all, name(item))
	}
	return all
}

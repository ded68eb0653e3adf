package view

import "github.com/csisim/csisim/internal/world/trace"

// key is a resource and the name of an object.
type key struct{ resource, name string }

// keyOf returns the object that changes.
func keyOf(l *trace.Line) key { return key{l.R, within(l, l.Name)} }

// within qualifies a name with its cluster in a run of several.
func within(l *trace.Line, name string) string {
	if l.Cluster == "" {
		return name
	}
	return l.Cluster + ": " + name
}

// objects follows the objects of a trace through its changes.
type objects struct {
	now     map[key]map[string]any
	changes map[key]int // number of changes since the object was last written in full
}

func newObjects() *objects { return &objects{now: map[key]map[string]any{}, changes: map[key]int{}} }

// fullEvery is the number of changes after which an object is written completely. Thus its state at
// an instant needs only a few lines.
const fullEvery = 32

// change applies a line. It returns the object before and after the line, and whether it should be
// written completely.
func (o *objects) change(l *trace.Line) (before, after map[string]any, inFull bool) {
	at := keyOf(l)
	before = o.now[at]
	switch l.Ev {
	case "DELETED":
		delete(o.now, at)
		delete(o.changes, at)
		return before, nil, false
	case "MODIFIED":
		after, _ = merged(before, l.Patch).(map[string]any)
		if after == nil {
			after = map[string]any{}
		}
		o.changes[at]++
		if inFull = o.changes[at] >= fullEvery; inFull {
			o.changes[at] = 0
		}
	default:
		after, _ = l.Obj.(map[string]any)
		o.changes[at] = 0
	}
	o.now[at] = after
	return before, after, inFull
}

// merged applies a JSON merge patch (RFC 7386) without changing its operand.
func merged(before any, patch any) any {
	changes, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	was, _ := before.(map[string]any)
	after := make(map[string]any, len(was)+len(changes))
	for name, value := range was {
		after[name] = value
	}
	for name, change := range changes {
		if change == nil {
			delete(after, name)
			continue
		}
		after[name] = merged(was[name], change)
	}
	return after
}

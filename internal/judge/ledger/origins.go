package ledger

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/world/trace"
)

// Origins records in which call each mount and loop device first appeared.
type Origins struct {
	seen   map[string]map[string]*trace.Event // by scope and key
	recent []*trace.Event
}

// Thing is a mount, a loop device or the like. Key identifies it. Text may contain names of volumes
// and paths. Parent is the key of the thing that created it, or empty.
type Thing struct{ Key, Text, Parent string }

// maxRecent is the number of recent calls that may have created a new thing. They include an
// interrupted call for a while, because its driver may finish it.
const maxRecent = 16

// NewOrigins returns Origins without any observations.
func NewOrigins() *Origins { return &Origins{seen: map[string]map[string]*trace.Event{}} }

// Began records the start of a call.
func (s *Origins) Began(call *trace.Event) {
	s.recent = append(s.recent, call)
	if len(s.recent) > maxRecent {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
}

// Saw records all things in a scope, such as the mounts of a node. node is empty for things outside
// the nodes. New things come from the call that has just ended, with two exceptions: the text names
// the path or volume of another call, or an ancestor of the thing existed before. Without a call
// they have no origin.
func (s *Origins) Saw(scope, node string, things []Thing, ended *trace.Event) {
	parents := map[string]string{}
	for _, thing := range things {
		if thing.Parent != "" {
			parents[thing.Key] = thing.Parent
		}
	}
	before, now := s.seen[scope], map[string]*trace.Event{}
	for _, thing := range things {
		made, known := fromBefore(before, parents, thing.Key)
		if !known {
			made = s.maker(thing, node, ended)
		}
		now[thing.Key] = made
	}
	s.seen[scope] = now
}

// fromBefore returns the call in which a thing, or its nearest known ancestor, appeared before.
func fromBefore(before map[string]*trace.Event, parents map[string]string, key string) (made *trace.Event, known bool) {
	made, known = before[key]
	for range len(parents) { // each of them once
		if known {
			break
		}
		key = parents[key]
		made, known = before[key]
	}
	return made, known
}

// MadeIn returns the call in which a thing first appeared; nil if there is none.
func (s *Origins) MadeIn(scope, key string) *trace.Event { return s.seen[scope][key] }

func (s *Origins) maker(thing Thing, node string, ended *trace.Event) *trace.Event {
	var calls []*trace.Event // the likeliest first
	if ended != nil {
		calls = append(calls, ended)
	}
	for _, call := range slices.Backward(s.recent) {
		if Makes(call) && (node == "" || call.Node == node) {
			calls = append(calls, call)
		}
	}
	for _, is := range []func(Thing, *trace.Event) bool{isAt, names} {
		for _, call := range calls {
			if is(thing, call) {
				return call
			}
		}
	}
	return ended
}

// isAt reports whether a thing is at the path of a call's target.
func isAt(thing Thing, call *trace.Event) bool {
	field := protoreflect.Name("target_path")
	if method(call) == "NodeStageVolume" {
		field = "staging_target_path"
	}
	path := text(call.Request, field)
	return path != "" && strings.Contains(thing.Text, path)
}

// names reports whether the thing's text names the call's volume.
func names(thing Thing, call *trace.Event) bool {
	id := volumeOf(call)
	return id != "" && strings.Contains(thing.Text, id)
}

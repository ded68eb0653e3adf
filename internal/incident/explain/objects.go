package explain

import (
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// change notes the state of an object.
func (s *Story) change(l *trace.Line) {
	key := l.R + "/" + l.Name
	switch l.Ev {
	case "DELETED":
		delete(s.objects, key)
		return
	case "MODIFIED":
		if s.objects[key] == nil {
			s.objects[key] = map[string]any{}
		}
		patch(s.objects[key], l.Patch)
	default:
		object, ok := l.Obj.(map[string]any)
		if !ok {
			return
		}
		s.objects[key] = object
	}
	s.learn(l.R, l.Name, s.objects[key])
}

// patch applies a JSON merge patch.
func patch(object, by map[string]any) {
	for name, value := range by { // in any order: names differ
		inner, isObject := value.(map[string]any)
		before, was := object[name].(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isObject && was:
			patch(before, inner)
		default:
			object[name] = value
		}
	}
}

// learn takes the names of volumes, attachments and pods from an object.
func (s *Story) learn(resource, name string, object map[string]any) {
	switch resource {
	case "persistentvolumes":
		claim := ""
		if of := text(object, "spec", "claimRef", "name"); of != "" {
			claim = text(object, "spec", "claimRef", "namespace") + "/" + of
		}
		v := s.names.volume(byPV+name, byHandle+text(object, "spec", "csi", "volumeHandle"), byClaim+claim)
		if driver := text(object, "spec", "csi", "driver"); driver != "" && v != nil {
			v.Driver = driver
		}
	case "persistentvolumeclaims":
		s.names.volume(byClaim+name, byPV+text(object, "spec", "volumeName"))
	case "volumeattachments":
		if v := s.names.volume(byPV+text(object, "spec", "source", "persistentVolumeName"), byAttachment+name); v != nil {
			v.Attachments[name] = text(object, "spec", "nodeName")
		}
	case "pods":
		if uid := text(object, "metadata", "uid"); uid != "" {
			s.podNames[uid] = name
		}
	}
}

// at returns the value at a path; nil if there is none.
func at(object map[string]any, path ...string) any {
	for i, name := range path {
		value := object[name]
		if i == len(path)-1 {
			return value
		}
		object, _ = value.(map[string]any)
	}
	return nil
}

func text(object map[string]any, path ...string) string {
	s, _ := at(object, path...).(string)
	return s
}

func list(object map[string]any, path ...string) (all []map[string]any) {
	items, _ := at(object, path...).([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func cutPrefix(key, prefix string) (string, bool) { return strings.CutPrefix(key, prefix) }

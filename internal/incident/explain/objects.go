package explain

import (
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
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
		fields.Patch(s.objects[key], l.Patch)
	default:
		object, ok := l.Obj.(map[string]any)
		if !ok {
			return
		}
		s.objects[key] = object
	}
	s.learn(l.R, l.Name, s.objects[key])
}

// learn reads the names of volumes, attachments and pods from an object.
func (s *Story) learn(resource, name string, object map[string]any) {
	switch resource {
	case "persistentvolumes":
		claim := ""
		if of := fields.Text(object, "spec", "claimRef", "name"); of != "" {
			claim = fields.Text(object, "spec", "claimRef", "namespace") + "/" + of
		}
		v := s.names.volume(byPV+name, byHandle+fields.Text(object, "spec", "csi", "volumeHandle"), byClaim+claim)
		if driver := fields.Text(object, "spec", "csi", "driver"); driver != "" && v != nil {
			v.Driver = driver
		}
	case "persistentvolumeclaims":
		s.names.volume(byClaim+name, byPV+fields.Text(object, "spec", "volumeName"))
	case "volumesnapshotcontents":
		of := fields.Text(object, "spec", "volumeSnapshotRef", "name")
		if of != "" {
			of = fields.Text(object, "spec", "volumeSnapshotRef", "namespace") + "/" + of
		}
		s.names.volume(byClaim+ofSnapshot+name, byClaim+ofSnapshot+of)
	case "volumegroupsnapshotcontents":
		of := fields.Text(object, "spec", "volumeGroupSnapshotRef", "name")
		if of != "" {
			of = fields.Text(object, "spec", "volumeGroupSnapshotRef", "namespace") + "/" + of
		}
		s.names.volume(byClaim+ofGroup+name, byClaim+ofGroup+of)
	case "volumeattachments":
		if v := s.names.volume(byPV+fields.Text(object, "spec", "source", "persistentVolumeName"), byAttachment+name); v != nil {
			v.Attachments[name] = fields.Text(object, "spec", "nodeName")
		}
	case "pods":
		if uid := fields.Text(object, "metadata", "uid"); uid != "" {
			s.podNames[uid] = name
		}
	}
}

func cutPrefix(key, prefix string) (string, bool) { return strings.CutPrefix(key, prefix) }

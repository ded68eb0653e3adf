package reenact

import (
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// change notes the change of an object.
func (s *Story) change(l *trace.Line) {
	key := l.R + "/" + l.Name
	before := s.objects[key]
	switch l.Ev {
	case "DELETED":
		s.deleted(l)
		return
	case "MODIFIED":
		if before == nil {
			return
		}
		s.power(l, before)
		fields.Patch(before, l.Patch)
	default:
		object, ok := l.Obj.(map[string]any)
		if !ok {
			return
		}
		s.objects[key] = object
	}
	s.object(l, s.objects[key])
}

// object takes a member of the cast from an object.
func (s *Story) object(l *trace.Line, object map[string]any) {
	switch l.R {
	case "nodes":
		s.cast.nodes[l.Name] = true
		if v, known := version.OfRelease(fields.Text(object, "status", "kubeletVersion")); known {
			s.cast.kubelet[l.Name] = v
		}
	case "storageclasses":
		s.cast.classes[l.Name] = object
	case "volumesnapshotclasses":
		s.cast.classes[ofSnapshots+l.Name] = object
	case "volumegroupsnapshotclasses":
		s.cast.classes[ofGroups+l.Name] = object
	case "volumegroupsnapshots":
		s.groupObject(l, object)
	case "volumegroupsnapshotcontents":
		s.groupContentObject(l, object)
	case "volumesnapshots":
		s.snapshotObject(l, object)
	case "volumesnapshotcontents":
		s.contentObject(l, object)
	case "persistentvolumes":
		claim := ""
		if name := fields.Text(object, "spec", "claimRef", "name"); name != "" {
			claim = fields.Text(object, "spec", "claimRef", "namespace") + "/" + name
		}
		v := s.cast.volume(fields.Text(object, "spec", "csi", "volumeHandle"), l.Name, claim, fields.Text(object, "spec", "csi", "driver"))
		v.describe(object)
	case "persistentvolumeclaims":
		v := s.cast.volume("", fields.Text(object, "spec", "volumeName"), l.Name, "")
		v.describe(object)
		if v != nil {
			v.labels = labelsAt(object, "metadata", "labels")
		}
	case "pods":
		s.pod(l, object)
	}
}

// describe reads the properties of a volume from its PersistentVolume or its claim.
func (v *volume) describe(object map[string]any) {
	if v == nil { // the object has no name
		return
	}
	spec, _ := object["spec"].(map[string]any)
	if modes, ok := spec["accessModes"].([]any); ok {
		v.modes = modes
	}
	for _, field := range []struct {
		to   *string
		path []string
	}{
		{&v.size, []string{"resources", "requests", "storage"}}, {&v.size, []string{"capacity", "storage"}},
		{&v.mode, []string{"volumeMode"}}, {&v.class, []string{"storageClassName"}},
	} {
		if found := fields.Text(spec, field.path...); found != "" {
			*field.to = found
		}
	}
}

// pod reads a pod with claims from its object.
func (s *Story) pod(l *trace.Line, object map[string]any) {
	if uid := fields.Text(object, "metadata", "uid"); uid != "" {
		s.cast.uids[uid] = l.Name
	}
	namespace, _, _ := strings.Cut(l.Name, "/")
	for _, of := range fields.List(object, "spec", "volumes") {
		claim := fields.Text(of, "persistentVolumeClaim", "claimName")
		if claim == "" {
			continue
		}
		p := s.cast.pod(l.Name, l.At())
		p.isOld = p.isOld || l.Ev == "INIT"
		p.uses(s.cast.volume("", "", namespace+"/"+claim, ""), fields.Text(object, "spec", "nodeName"))
		if fields.Text(object, "metadata", "deletionTimestamp") != "" && p.deleted == 0 {
			p.deleted = max(l.At(), 1)
		}
	}
}

func (s *Story) deleted(l *trace.Line) {
	if p := s.cast.pods[l.Name]; l.R == "pods" && p != nil && p.deleted == 0 {
		p.deleted = max(l.At(), time.Millisecond)
	}
	s.snapshotGone(l)
	s.groupGone(l)
	delete(s.objects, l.R+"/"+l.Name)
}

// power records that a node is no longer ready, or ready again.
func (s *Story) power(l *trace.Line, before map[string]any) {
	was, is := fields.Text(before, "status", "Ready"), fields.Text(l.Patch, "status", "Ready")
	if l.R != "nodes" || was == "" || is == "" {
		return
	}
	switch wasReady, isReady := strings.HasPrefix(was, "True"), strings.HasPrefix(is, "True"); {
	case wasReady && !isReady:
		s.turns = append(s.turns, turn{l.At(), "power-off: " + l.Name})
	case !wasReady && isReady:
		s.turns = append(s.turns, turn{l.At(), "power-on: " + l.Name})
	}
}

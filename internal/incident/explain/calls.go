package explain

import (
	"cmp"
	"path"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// kindOf maps RPCs to operations.
var kindOf = map[string]string{
	"CreateVolume": "provision", "DeleteVolume": "delete", "ControllerPublishVolume": "attach", "ControllerUnpublishVolume": "detach",
	"NodeStageVolume": "stage", "NodeUnstageVolume": "unstage", "NodePublishVolume": "publish", "NodeUnpublishVolume": "unpublish",
	"ControllerExpandVolume": "resize", "NodeExpandVolume": "node resize", "CreateSnapshot": "snapshot", "DeleteSnapshot": "snapshot delete",
	"CreateVolumeGroupSnapshot": "group snapshot", "DeleteVolumeGroupSnapshot": "group snapshot delete",
}

// call adds a call of a driver.
func (s *Story) call(l *trace.Line) {
	s.calls++
	kind := kindOf[path.Base(l.M)]
	if kind == "" {
		return
	}
	f := &fact{fields: map[string]string{}, at: l.At(), by: l.From, node: l.Node, seen: Place{l.Seq, l.Src}, code: l.Code, isCall: true}
	v := s.called(l, f)
	if v == nil {
		return
	}
	if l.Driver != "" {
		v.Driver = l.Driver
	}
	o := s.operation(kind, v, s.placeOf(kind, f, v))
	s.note(o, f, v)
	o.Uncertain = textsOf(l.Obj)["uncertain"]
	o.attempt(l, f)
}

// attempt adds an attempt with its result.
func (o *Operation) attempt(l *trace.Line, f *fact) {
	o.start(f)
	began := f.at
	f.at += time.Duration(l.Ms) * time.Millisecond
	switch {
	case l.Code != "":
		f.fields["error"] = cmp.Or(l.Msg, l.Code)
		o.fail(f)
	case l.Resp != nil || isUnlogged(l):
		o.succeed(f)
	case o.Open == nil:
		o.Open = &OpenCall{path.Base(l.M), began, f.seen}
	}
}

// isUnlogged reports whether a call without an answer belongs to a driver that prints no answers.
func isUnlogged(l *trace.Line) bool {
	const begin = "not logged"
	answer := textsOf(l.Obj)["answer"]
	return len(answer) >= len(begin) && answer[:len(begin)] == begin
}

// called returns the volume of a call, and sets the fields about its place.
func (s *Story) called(l *trace.Line, f *fact) *Volume {
	text := func(name string) string {
		value, _ := l.Req[name].(string)
		return value
	}
	f.fields["volume"] = text("volume_id")
	f.fields["node"] = s.nodeOf(text("node_id"), l.Driver)
	if target := text("target_path"); target != "" {
		f.fields["podUID"] = podUIDIn(target)
	}
	handle, pv, claim := f.fields["volume"], "", ""
	if volume, ok := l.Resp["volume"].(map[string]any); ok {
		handle, _ = volume["volume_id"].(string)
	}
	switch path.Base(l.M) {
	case "CreateVolume":
		pv = text("name")
		parameters, _ := l.Req["parameters"].(map[string]any)
		name, _ := parameters["csi.storage.k8s.io/pvc/name"].(string)
		namespace, _ := parameters["csi.storage.k8s.io/pvc/namespace"].(string)
		if name != "" {
			claim = namespace + "/" + name
		}
	case "CreateSnapshot":
		return s.names.volume(byClaim + ofSnapshot + text("name"))
	case "DeleteSnapshot":
		return s.names.volume(byClaim + ofSnapshot + text("snapshot_id"))
	case "CreateVolumeGroupSnapshot":
		return s.names.volume(byClaim + ofGroup + text("name"))
	case "DeleteVolumeGroupSnapshot":
		return s.names.volume(byClaim + ofGroup + text("group_snapshot_id"))
	}
	return s.names.volume(byHandle+handle, byPV+pv, byClaim+claim)
}

// podUIDIn returns the uid of the pod in a target path; empty if it has none.
func podUIDIn(target string) string {
	const before = "/pods/"
	for i := 0; i+len(before) < len(target); i++ {
		if target[i:i+len(before)] == before {
			rest := target[i+len(before):]
			for j := range rest {
				if rest[j] == '/' {
					return rest[:j]
				}
			}
		}
	}
	return ""
}

// nodeOf returns the node with an id of a driver according to the CSINodes; otherwise the id.
func (s *Story) nodeOf(id, driver string) string {
	for key, object := range s.objects { // in any order: ids differ
		name, isNode := cutPrefix(key, "csinodes/")
		if !isNode {
			continue
		}
		for _, d := range fields.List(object, "spec", "drivers") {
			if fields.Text(d, "nodeID") == id && (driver == "" || fields.Text(d, "name") == driver) {
				return name
			}
		}
	}
	return id
}

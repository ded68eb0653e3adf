package view

import (
	"cmp"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// volumes knows what the volumes of a trace are called, and which of them an event is about.
type volumes struct {
	all   []*volume
	byID  map[string]*volume
	byPV  map[string]*volume
	fresh map[*volume]bool  // new, or better known than before, since the last chunk
	nodes map[string]string // by driver and CSI node id
	pods  map[string]string // by uid: namespace/name
}

func newVolumes() *volumes {
	return &volumes{
		byID: map[string]*volume{}, byPV: map[string]*volume{}, fresh: map[*volume]bool{}, nodes: map[string]string{}, pods: map[string]string{},
	}
}

// learn takes the names of an object.
func (v *volumes) learn(resource, name string, object map[string]any) {
	switch resource {
	case "persistentvolumeclaims":
		if uid := textAt(object, "metadata", "uid"); uid != "" {
			v.named("pvc-"+uid, "", strings.TrimPrefix(name, "default/"))
		}
	case "persistentvolumes":
		claim := strings.TrimPrefix(textAt(object, "spec", "claimRef", "namespace")+"/"+textAt(object, "spec", "claimRef", "name"), "default/")
		if claim == "/" {
			claim = ""
		}
		v.named(name, textAt(object, "spec", "csi", "volumeHandle"), claim)
	case "pods":
		v.pods[textAt(object, "metadata", "uid")] = name
	case "csinodes":
		spec, _ := object["spec"].(map[string]any)
		drivers, _ := spec["drivers"].([]any)
		for _, d := range drivers {
			driver, _ := d.(map[string]any)
			v.nodes[textAt(driver, "nodeID")] = name
		}
	}
}

// named notes that a PersistentVolume is the volume of an id, for a claim. What is empty is not known.
func (v *volumes) named(pv, id, claim string) *volume {
	known := v.byPV[pv]
	if known == nil && id != "" {
		known = v.byID[id]
	}
	if known == nil {
		known = &volume{Place: len(v.all) + 1}
		v.all = append(v.all, known)
		v.fresh[known] = true
	}
	better := *known
	better.PV, better.ID = cmp.Or(pv, known.PV), cmp.Or(id, known.ID)
	better.Label = cmp.Or(claim, known.Label)
	if claim == "" && (known.Label == "" || known.Label == known.ID) {
		better.Label = cmp.Or(better.PV, better.ID)
	}
	if better != *known {
		*known = better
		v.fresh[known] = true
	}
	if pv != "" {
		v.byPV[pv] = known
	}
	if id != "" {
		v.byID[id] = known
	}
	return known
}

// of is the place of the volume that an event is about, 0 for none.
func (v *volumes) of(l trace.Line, object map[string]any) int {
	found := v.about(l, object)
	if found == nil {
		return 0
	}
	return found.Place
}

func (v *volumes) about(l trace.Line, object map[string]any) *volume {
	switch {
	case l.K == trace.Call && path.Base(l.M) == "CreateVolume":
		answered, _ := l.Resp["volume"].(map[string]any)
		return v.named(textAt(l.Req, "name"), textAt(answered, "volume_id"), "")
	case l.Req != nil && textAt(l.Req, "volume_id") != "":
		return v.named("", textAt(l.Req, "volume_id"), "")
	case l.K == trace.API:
		return v.ofObject(l, object)
	case l.K == trace.KubeEvent || l.K == trace.FileChange || l.K == trace.SystemCall:
		return v.mentioned(l.Msg + l.Name)
	}
	return nil
}

func (v *volumes) ofObject(l trace.Line, object map[string]any) *volume {
	switch l.R {
	case "persistentvolumes":
		return v.byPV[l.Name]
	case "persistentvolumeclaims":
		return v.byPV[cmp.Or(textAt(object, "spec", "volumeName"), "pvc-"+textAt(object, "metadata", "uid"))]
	case "volumeattachments":
		return v.byPV[textAt(object, "spec", "source", "persistentVolumeName")]
	}
	return nil
}

var claimVolume = lazyregexp.New(`pvc-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// mentioned is the volume that a text names.
func (v *volumes) mentioned(text string) *volume {
	return v.byPV[claimVolume().FindString(text)]
}

// node is that on which a call is made, or to which it attaches.
func (v *volumes) node(l trace.Line) string {
	if id := textAt(l.Req, "node_id"); id != "" {
		return cmp.Or(v.nodes[id], id)
	}
	return l.Node
}

// pod is the pod in whose directory a path is, empty for none.
func (v *volumes) pod(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := v.pods[part]; ok {
			return name
		}
	}
	return ""
}

// take are the volumes that are new or better known than before.
func (v *volumes) take() []volume {
	var fresh []volume
	for _, known := range v.all {
		if v.fresh[known] {
			fresh = append(fresh, *known)
		}
	}
	clear(v.fresh)
	return fresh
}

// textAt is the text at a path of fields, empty if there is none.
func textAt(object map[string]any, names ...string) string {
	for _, name := range names[:len(names)-1] {
		object, _ = object[name].(map[string]any)
	}
	text, _ := object[names[len(names)-1]].(string)
	return text
}

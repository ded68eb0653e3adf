package view

import (
	"cmp"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// volumes determines the names of the volumes of a trace, and the volume of each event.
type volumes struct {
	all   []*volume
	byID  map[string]*volume
	byPV  map[string]*volume
	fresh map[*volume]bool  // new, or with more information, since the last chunk
	nodes map[string]string // node names, by driver and CSI node id
	pods  map[string]string // by uid: namespace/name
}

func newVolumes() *volumes {
	return &volumes{
		byID: map[string]*volume{}, byPV: map[string]*volume{}, fresh: map[*volume]bool{}, nodes: map[string]string{}, pods: map[string]string{},
	}
}

// learn reads the names in an object.
func (v *volumes) learn(resource, name string, o object) {
	switch resource {
	case "persistentvolumeclaims":
		if uid := o.text("metadata.uid"); uid != "" {
			v.named("pvc-"+uid, "", strings.TrimPrefix(name, "default/"))
		}
	case "persistentvolumes":
		claim := strings.TrimPrefix(o.text("spec.claimRef.namespace")+"/"+o.text("spec.claimRef.name"), "default/")
		if claim == "/" {
			claim = ""
		}
		v.named(name, o.text("spec.csi.volumeHandle"), claim)
	case "pods":
		v.pods[o.text("metadata.uid")] = name
	case "csinodes":
		for _, r := range registrations(o) {
			v.nodes[r.NodeID] = name
		}
	}
}

// named records that a PersistentVolume is the volume with an id, for a claim. Empty arguments are
// unknown.
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

// of returns the position of the volume of an event; 0 if there is none.
func (v *volumes) of(f *facts, o object) int {
	found := v.about(f, o)
	if found == nil {
		return 0
	}
	return found.Place
}

func (v *volumes) about(f *facts, o object) *volume {
	switch {
	case f.K == trace.Call && path.Base(f.M) == "CreateVolume":
		return v.named(f.callSubject.name, f.made, "")
	case f.volume != "":
		return v.named("", f.volume, "")
	case f.K == trace.API:
		return v.ofObject(&f.Line, o)
	case f.K == trace.KubeEvent || f.K == trace.FileChange || f.K == trace.SystemCall || f.K == trace.Request:
		return v.mentioned(f.Msg + f.Name)
	}
	return nil
}

func (v *volumes) ofObject(l *trace.Line, o object) *volume {
	switch l.R {
	case "persistentvolumes":
		return v.byPV[l.Name]
	case "persistentvolumeclaims":
		return v.byPV[cmp.Or(o.text("spec.volumeName"), "pvc-"+o.text("metadata.uid"))]
	case "volumeattachments":
		return v.byPV[o.text("spec.source.persistentVolumeName")]
	}
	return nil
}

var claimVolume = lazyregexp.New(`pvc-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// mentioned returns the volume that a text names.
func (v *volumes) mentioned(text string) *volume {
	return v.byPV[claimVolume().FindString(text)]
}

// nodeOf returns the node of a call's plugin, or the node to which it attaches.
func (v *volumes) nodeOf(f *facts) string {
	if f.callSubject.node != "" {
		return cmp.Or(v.nodes[f.callSubject.node], f.callSubject.node)
	}
	return f.Line.Node
}

// pod returns the pod of a path in its directory, "" for none.
func (v *volumes) pod(path string) string {
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := v.pods[part]; ok {
			return name
		}
	}
	return ""
}

// take returns the volumes that are new or have more information.
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

package calls

import (
	"fmt"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/world/trace"
)

// Names translates the ids of volumes, nodes and pods in calls to names. The names are the same in
// every run of a scenario, regardless of the ids that a driver chooses. Learn adds the trace's
// events, in their order.
type Names struct {
	byID      map[string]*volume // by volume id
	byPV      map[string]*volume // by the PersistentVolume's name, which CreateVolume requests
	claims    map[string]int     // the number of claims so far, by their name
	nodes     map[string]string  // by driver and CSI node id
	pods      map[string]string  // by UID
	snapshots map[string]string  // by snapshot id
	unnamed   int
}

// volume holds the names of one volume.
type volume struct{ id, pv, claim, alias string }

// NewNames returns an empty Names.
func NewNames() *Names {
	return &Names{
		byID: map[string]*volume{}, byPV: map[string]*volume{}, claims: map[string]int{},
		nodes: map[string]string{}, pods: map[string]string{}, snapshots: map[string]string{},
	}
}

// Learn adds the names in an event.
func (n *Names) Learn(e *trace.Event) {
	switch e.Kind {
	case trace.Call:
		n.learnCall(e)
	case trace.API:
		n.learnObject(e)
	}
}

func (n *Names) learnObject(e *trace.Event) {
	switch object := e.New.(type) {
	case *corev1.PersistentVolumeClaim:
		if e.Change == "ADDED" {
			n.learnClaim(object)
		}
	case *corev1.PersistentVolume:
		n.learnVolume(object)
	case *corev1.Pod:
		n.pods[string(object.UID)] = short(object.Namespace, object.Name)
	case *storagev1.CSINode:
		for _, d := range object.Spec.Drivers {
			n.nodes[d.Name+"^"+d.NodeID] = object.Name
		}
	}
}

// learnClaim adds the name of the volume that a provisioner would create for the claim.
func (n *Names) learnClaim(claim *corev1.PersistentVolumeClaim) {
	name := short(claim.Namespace, claim.Name)
	n.claims[name]++
	alias := name
	if times := n.claims[name]; times > 1 {
		alias = fmt.Sprintf("%s#%d", name, times)
	}
	pv := "pvc-" + string(claim.UID)
	n.byPV[pv] = &volume{pv: pv, claim: name, alias: alias}
}

func (n *Names) learnVolume(pv *corev1.PersistentVolume) {
	known := n.byPV[pv.Name]
	if known == nil {
		known = &volume{pv: pv.Name, alias: pv.Name}
		n.byPV[pv.Name] = known
	}
	if claim := pv.Spec.ClaimRef; claim != nil {
		known.claim = short(claim.Namespace, claim.Name)
	}
	if source := pv.Spec.CSI; source != nil {
		known.id = source.VolumeHandle
		n.byID[source.VolumeHandle] = known
	}
}

func (n *Names) learnCall(e *trace.Event) {
	if id := volumeID(e.Request); id != "" && n.byID[id] == nil {
		n.unnamed++
		n.byID[id] = &volume{id: id, alias: fmt.Sprintf("vol-%04d", n.unnamed)}
	}
	switch answer := e.Response.(type) {
	case *csi.CreateVolumeResponse:
		if known := n.byPV[text(e.Request, "name")]; known != nil && answer.GetVolume().GetVolumeId() != "" {
			known.id = answer.GetVolume().GetVolumeId()
			n.byID[known.id] = known
		}
	case *csi.CreateSnapshotResponse:
		n.learnSnapshot(answer.GetSnapshot().GetSnapshotId())
	case *csi.CreateVolumeGroupSnapshotResponse:
		for _, member := range answer.GetGroupSnapshot().GetSnapshots() {
			n.learnSnapshot(member.GetSnapshotId())
		}
	}
}

func (n *Names) learnSnapshot(id string) {
	if _, known := n.snapshots[id]; !known && id != "" {
		n.snapshots[id] = fmt.Sprintf("snap-%04d", len(n.snapshots)+1)
	}
}

// of returns the volume of a call, or nil.
func (n *Names) of(e *trace.Event) *volume {
	if known := n.byID[volumeID(e.Request)]; known != nil {
		return known
	}
	return n.byPV[text(e.Request, "name")]
}

// Volume returns the name of the call's volume or snapshot: the claim's name, otherwise the
// PersistentVolume's, otherwise vol- and a number. It is empty if there is none.
func (n *Names) Volume(e *trace.Event) string {
	if id := text(e.Request, "snapshot_id"); id != "" {
		return n.snapshots[id]
	}
	if known := n.of(e); known != nil {
		return known.alias
	}
	if _, several := e.Request.(*csi.CreateVolumeGroupSnapshotRequest); several {
		return ""
	}
	return text(e.Request, "name")
}

// About returns the name of the volume of an event of any kind; empty for none.
func (n *Names) About(e *trace.Event) string {
	switch e.Kind {
	case trace.Call:
		return n.Volume(e)
	case trace.API:
		return n.aboutObject(e)
	case trace.KubeEvent, trace.DataLost: // their message contains its name
		return n.aboutEvent(e)
	}
	return ""
}

func (n *Names) aboutObject(e *trace.Event) string {
	object := e.New
	if object == nil {
		object = e.Old
	}
	pv := ""
	switch object := object.(type) {
	case *corev1.PersistentVolumeClaim:
		pv = "pvc-" + string(object.UID)
		if object.Spec.VolumeName != "" {
			pv = object.Spec.VolumeName
		}
	case *corev1.PersistentVolume:
		pv = object.Name
	case *storagev1.VolumeAttachment:
		if name := object.Spec.Source.PersistentVolumeName; name != nil {
			pv = *name
		}
	}
	if known := n.byPV[pv]; known != nil {
		return known.alias
	}
	return ""
}

// aboutEvent finds the volume that an event's message names directly or by its claim.
func (n *Names) aboutEvent(e *trace.Event) string {
	var found volume
	for _, known := range n.byPV {
		isNamed := strings.Contains(e.Message, known.pv) || e.Name == "PersistentVolumeClaim/"+known.claim
		if isNamed && (len(known.pv) > len(found.pv) || len(known.pv) == len(found.pv) && known.alias > found.alias) {
			// The longest name wins, because one may be a prefix of another. Among volumes of one
			// claim, the last one wins.
			found = *known
		}
	}
	return found.alias
}

// match reports whether a pattern matches one of the names of the call's volume.
func (n *Names) match(pattern string, e *trace.Event) bool {
	known := n.of(e)
	if known == nil {
		known = &volume{pv: text(e.Request, "name"), id: text(e.Request, "snapshot_id"), alias: n.Volume(e)}
	}
	for _, name := range []string{known.alias, known.claim, known.pv, known.id} {
		if name != "" && partial.Wildcard(pattern, name) {
			return true
		}
	}
	return false
}

// Node returns the node of a call: the node of a node plugin, or the node to which a controller
// call attaches.
func (n *Names) Node(e *trace.Event) string {
	id := text(e.Request, "node_id")
	if id == "" {
		return e.Node
	}
	if name, ok := n.nodes[e.Driver+"^"+id]; ok {
		return name
	}
	return id
}

// Pod returns the name of the pod to which a call's path belongs; empty for none.
func (n *Names) Pod(e *trace.Event) string {
	path := text(e.Request, "target_path")
	if path == "" {
		path = text(e.Request, "volume_path")
	}
	for _, part := range strings.Split(path, "/") {
		if name, ok := n.pods[part]; ok {
			return name
		}
	}
	return ""
}

func short(namespace, name string) string {
	if namespace == corev1.NamespaceDefault || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

package calls

import (
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// WrongRequest is the form of a call that lacks the content of earlier answers.
const WrongRequest verdict.Form = "wrong request"

// handed holds the certain answers and requests of a volume's calls. It is nil for a volume without
// known calls.
type handed struct {
	// The volume was created in this run: the other fields are known.
	made     bool
	block    bool                // the volume is a raw block volume
	contexts []map[string]string // of the volume
	// By node id: the contexts of its attachment that the caller received.
	attached map[string][]map[string]string
	// By node: the volume's staging path; empty if another path is possible as well.
	staging map[string]string
}

func (v *state) hand() *handed {
	if v.handed == nil {
		v.handed = &handed{}
	}
	return v.handed
}

// created notes a new volume. After a repeated call, the context of each answer is valid.
func (w *Watch) created(call *trace.Event, r *csi.CreateVolumeRequest) {
	answer, ok := call.Response.(*csi.CreateVolumeResponse)
	if !ok || answer.GetVolume().GetVolumeId() == "" {
		return
	}
	h := w.of(call.Driver, answer.GetVolume().GetVolumeId()).hand()
	h.made = true
	h.block = slices.ContainsFunc(r.GetVolumeCapabilities(), func(c *csi.VolumeCapability) bool { return c.GetBlock() != nil })
	h.contexts = append(h.contexts, answer.GetVolume().GetVolumeContext())
}

// attachedWith records the context of an attachment.
func (v *state) attachedWith(call *trace.Event, r *csi.ControllerPublishVolumeRequest) {
	answer, _ := call.Response.(*csi.ControllerPublishVolumeResponse)
	h := v.hand()
	if h.attached == nil {
		h.attached = map[string][]map[string]string{}
	}
	h.attached[r.GetNodeId()] = append(h.attached[r.GetNodeId()], answer.GetPublishContext())
}

// stagedAt records a path at which a volume is staged.
func (v *state) stagedAt(node, path string) {
	h := v.hand()
	if h.staging == nil {
		h.staging = map[string]string{}
	}
	if before, known := h.staging[node]; known && before != path {
		path = ""
	}
	h.staging[node] = path
}

// used is a call that uses a volume on a node.
type used interface {
	GetVolumeId() string
	GetVolumeContext() map[string]string
	GetPublishContext() map[string]string
	GetVolumeCapability() *csi.VolumeCapability
	GetStagingTargetPath() string
}

// isGiven checks the values in the request of a call.
func (w *Watch) isGiven(call *trace.Event, r used) {
	h := w.of(call.Driver, r.GetVolumeId()).handed
	if h == nil {
		return
	}
	wrong := func(text string) {
		w.ofKubernetes(call, verdict.HandedOn, WrongRequest,
			verdict.Say("volume %s on node %s %s", r.GetVolumeId(), verdict.Kept(call.Node), verdict.Quoted(text)))
	}
	if h.made && (r.GetVolumeCapability().GetBlock() != nil) != h.block {
		wrong("is asked for in the other form than CreateVolume was, block device or file system")
	}
	if h.made && !slices.ContainsFunc(h.contexts, func(c map[string]string) bool { return isWithin(c, r.GetVolumeContext()) }) {
		wrong("comes without the volume_context that CreateVolume answered")
	}
	if contexts := h.attached[w.idOf(call.Driver, call.Node)]; len(contexts) > 0 && !slices.ContainsFunc(contexts, func(c map[string]string) bool { return maps.Equal(c, r.GetPublishContext()) }) {
		wrong("comes without the publish_context that ControllerPublishVolume answered for the node")
	}
	if _, publishes := r.(*csi.NodePublishVolumeRequest); publishes {
		if path := h.staging[call.Node]; path != "" && w.stages[call.Driver] && r.GetStagingTargetPath() != path {
			wrong("is published from " + r.GetStagingTargetPath() + ", and staged at " + path)
		}
	}
}

// idOf returns the id of a node in a driver; empty if it is not certain.
func (w *Watch) idOf(driver, node string) (id string) {
	if w.renames[key{driver, node}] {
		return ""
	}
	// In any order: a node has one id at a time.
	for k, name := range w.nodes {
		if k.driver == driver && name == node {
			return k.id
		}
	}
	return ""
}

// isWithin reports whether a map has all entries of another map. Kubernetes adds entries to a
// volume's context.
func isWithin(part, all map[string]string) bool {
	for key, value := range part { // any order: one is enough
		if got, has := all[key]; !has || got != value {
			return false
		}
	}
	return true
}

package calls

import (
	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/trace"
)

// OutOfOrder is the form of calls that come in an order which Kubernetes rules out.
const OutOfOrder verdict.Form = "out of order"

// usedWhereAttached checks a call that uses a volume on a node. ControllerPublishVolume must have
// succeeded before.
func (w *Watch) usedWhereAttached(call *trace.Event, id, does string) {
	node := w.idOf(call.Driver, call.Node)
	if node != "" && len(w.of(call.Driver, id).hand().attached[node]) == 0 && w.MustAttach(call.Driver, id) {
		w.disorder(call, verdict.AttachedFirst, "volume %s is %s on node %s, where it is not attached", id, verdict.Kept(does), verdict.Kept(call.Node))
	}
}

// publishedWhereStaged checks a call that publishes a volume.
func (w *Watch) publishedWhereStaged(call *trace.Event, r *csi.NodePublishVolumeRequest) {
	if r.GetStagingTargetPath() == "" || !w.stages[call.Driver] {
		// An inline volume, or a driver that does not stage. The kubelet sends a staging path for
		// block volumes nevertheless.
		return
	}
	switch w.of(call.Driver, r.GetVolumeId()).staged[call.Node] {
	case never:
		w.disorder(call, verdict.StagedFirst, "volume %s is published on node %s, where it is not staged", r.GetVolumeId(), verdict.Kept(call.Node))
	case leaving:
		w.disorder(call, verdict.StagedFirst, "volume %s is published on node %s while it is unstaged there", r.GetVolumeId(), verdict.Kept(call.Node))
	}
}

// unstagedUnused checks a call that unstages a volume.
func (w *Watch) unstagedUnused(call *trace.Event, v *state, r *csi.NodeUnstageVolumeRequest) {
	// In any order: one path is enough, and the verdict does not name it.
	for at, is := range v.published {
		if at.node == call.Node && is == surely {
			w.disorder(call, verdict.UnpublishedFirst, "volume %s is unstaged on node %s, where it is published", r.GetVolumeId(), verdict.Kept(call.Node))
			return
		}
	}
}

// detachedUnused checks a call that detaches a volume.
func (w *Watch) detachedUnused(call *trace.Event, v *state, r *csi.ControllerUnpublishVolumeRequest) {
	node, known := w.nodes[key{call.Driver, r.GetNodeId()}]
	if known && v.staged[node] == surely && !w.InUse(call.Driver, r.GetVolumeId(), node) {
		w.disorder(call, verdict.UnstagedFirst, "volume %s is detached from node %s, where it is staged", r.GetVolumeId(), verdict.Kept(node))
	}
}

// deletedUnused checks a call that deletes a volume.
func (w *Watch) deletedUnused(call *trace.Event, v *state, r *csi.DeleteVolumeRequest) {
	// In any order: one is enough, and it is not reported.
	for _, is := range v.attached {
		if is == surely {
			w.disorder(call, verdict.DetachedFirst, "volume %s is deleted while it is attached", r.GetVolumeId())
			return
		}
	}
	// In any order: one is enough, and it is not reported.
	for _, is := range v.published {
		if is == surely {
			w.disorder(call, verdict.DetachedFirst, "volume %s is deleted while it is published", r.GetVolumeId())
			return
		}
	}
}

func (w *Watch) disorder(call *trace.Event, breaks verdict.Key, format string, args ...any) {
	w.ofKubernetes(call, breaks, OutOfOrder, verdict.Say(format, args...))
}

// ofKubernetes reports a call that Kubernetes rules out.
func (w *Watch) ofKubernetes(call *trace.Event, breaks verdict.Key, form verdict.Form, detail verdict.Sentence) {
	v := verdict.Verdict{Breaks: breaks, Form: form, Method: call.Method, Node: call.Node, Event: call.Seq}
	w.OnDisorder(call, v.Worded(verdict.Say("%s: %s: %s", verdict.Kept(form), verdict.Kept(method(call)), detail)))
}

package invariant

import (
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/trace"
)

// OutOfOrder begins the verdict of calls that come in an order which Kubernetes rules out.
const OutOfOrder = "out of order: "

var usedWhereAttached = &Invariant{
	Name: "attached-first", Holds: "a volume is staged and published on a node while it is attached there, if the driver attaches volumes", Reason: "there is no device, or that of another volume",
	Rules: []string{"CSI spec: NodeStageVolume", "CSI spec: NodePublishVolume", "K-ATT-1", "K-ATT-7"}, Blame: Kubernetes, Rank: Breach, breaks: has(", where it is not attached"),
}

// usedWhereAttached looks at a call that uses a volume on a node: who attaches it has heard by then that it is attached.
func (w *Watch) usedWhereAttached(call *trace.Event, id, does string) {
	node := w.idOf(call.Driver, call.Node)
	if node != "" && len(w.of(call.Driver, id).hand().attached[node]) == 0 && w.MustAttach(call.Driver, id) {
		w.disorder(call, "volume %s is %s on node %s, where it is not attached", id, does, call.Node)
	}
}

var publishedWhereStaged = &Invariant{
	Name: "staged-first", Holds: "a volume is staged on a node while it is published there", Reason: "what is published is the empty directory below",
	Rules: []string{"CSI spec: NodePublishVolume", "K-PUB-15", "K-OP-1"}, Blame: Kubernetes, Rank: Breach, breaks: begins(OutOfOrder + "NodePublishVolume"),
}

// publishedWhereStaged looks at a call that publishes a volume.
func (w *Watch) publishedWhereStaged(call *trace.Event, r *csi.NodePublishVolumeRequest) {
	if r.GetStagingTargetPath() == "" || !w.stages[call.Driver] {
		return // an inline volume, or a driver that does not stage: the kubelet names the path of its block volumes even so
	}
	switch w.of(call.Driver, r.GetVolumeId()).staged[call.Node] {
	case never:
		w.disorder(call, "volume %s is published on node %s, where it is not staged", r.GetVolumeId(), call.Node)
	case leaving:
		w.disorder(call, "volume %s is published on node %s while it is unstaged there", r.GetVolumeId(), call.Node)
	}
}

var unstagedUnused = &Invariant{
	Name: "unpublished-first", Holds: "a volume is unstaged when it is published nowhere on the node", Reason: "a pod loses the volume that it uses",
	Rules: []string{"CSI spec: NodeUnstageVolume", "K-UNSTAGE-1", "K-REC-6"}, Blame: Kubernetes, Rank: Breach, breaks: begins(OutOfOrder + "NodeUnstageVolume"),
}

// unstagedUnused looks at a call that unstages a volume.
func (w *Watch) unstagedUnused(call *trace.Event, v *state, r *csi.NodeUnstageVolumeRequest) {
	// In any order: one is enough, and its path is not named.
	for at, is := range v.published {
		if at.node == call.Node && is == surely {
			w.disorder(call, "volume %s is unstaged on node %s, where it is published", r.GetVolumeId(), call.Node)
			return
		}
	}
}

var detachedUnused = &Invariant{
	Name: "unstaged-first", Holds: "a volume is detached from a node when it is staged there no more, unless by force", Reason: "the file system on it is cut off under its pods",
	Rules: []string{"CSI spec: ControllerUnpublishVolume", "C-ADC-25", "C-OP-5"}, Blame: Kubernetes, Rank: Breach, breaks: begins(OutOfOrder + "ControllerUnpublishVolume"),
}

// detachedUnused looks at a call that detaches a volume.
func (w *Watch) detachedUnused(call *trace.Event, v *state, r *csi.ControllerUnpublishVolumeRequest) {
	node, known := w.nodes[key{call.Driver, r.GetNodeId()}]
	if known && v.staged[node] == surely && !w.InUse(call.Driver, r.GetVolumeId(), node) {
		w.disorder(call, "volume %s is detached from node %s, where it is staged", r.GetVolumeId(), node)
	}
}

var deletedUnused = &Invariant{
	Name: "detached-first", Holds: "a volume is deleted when it is attached and published nowhere", Reason: "a pod loses the volume that it uses",
	Rules: []string{"CSI spec: DeleteVolume", "C-PROV-73", "C-PV-31"}, Blame: Kubernetes, Rank: Breach, breaks: begins(OutOfOrder + "DeleteVolume"),
}

// deletedUnused looks at a call that deletes a volume.
func (w *Watch) deletedUnused(call *trace.Event, v *state, r *csi.DeleteVolumeRequest) {
	// In any order: one is enough, and it is not named.
	for _, is := range v.attached {
		if is == surely {
			w.disorder(call, "volume %s is deleted while it is attached", r.GetVolumeId())
			return
		}
	}
	// In any order: one is enough, and it is not named.
	for _, is := range v.published {
		if is == surely {
			w.disorder(call, "volume %s is deleted while it is published", r.GetVolumeId())
			return
		}
	}
}

func (w *Watch) disorder(call *trace.Event, format string, args ...any) {
	w.OnDisorder(call, OutOfOrder+method(call)+": "+fmt.Sprintf(format, args...))
}

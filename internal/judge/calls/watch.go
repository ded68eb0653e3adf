package calls

import (
	"maps"
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Watch follows the calls of one cluster, and the state of its volumes.
type Watch struct {
	// OnBreach is called for breaches of a driver, and OnDisorder for breaches of its callers, with
	// the call that shows the breach.
	OnBreach, OnDisorder func(call *trace.Event, v verdict.Verdict)
	// MustAttach reports whether Kubernetes attaches a volume of a driver before it is used.
	// Default: it attaches none.
	MustAttach func(driver, handle string) bool
	// MayWork reports whether the driver may still be working on a call's volume outside of calls.
	// Default: it never does.
	MayWork func(call *trace.Event) bool
	// InUse reports whether a node reports a volume as in use. Detaching it is then a forced
	// detach.
	InUse func(driver, handle, node string) bool

	volumes map[key]*state
	nodes   map[key]string  // names of nodes, by driver and node id
	renames map[key]bool    // nodes by former ids
	stages  map[string]bool // the drivers that promise to stage
	listing listing
}

// key is a volume, or a node, of a driver.
type key struct{ driver, id string }

// New returns a watch without any observations.
func New() *Watch {
	return &Watch{MustAttach: func(string, string) bool { return false }, MayWork: func(*trace.Event) bool { return false }, volumes: map[key]*state{}, nodes: map[key]string{}, renames: map[key]bool{}, stages: map[string]bool{}, listing: listing{promised: map[string]bool{}, began: map[*trace.Event]uint64{}}}
}

// certainty is the known state of something that calls make and undo.
type certainty int

const (
	never   certainty = iota // not created, or undone
	maybe                    // a call that creates or undoes it failed, or has not ended
	leaving                  // one call that undoes it is in progress
	surely                   // made
)

// state is the certain part of a volume's state after the calls. There may be very many.
type state struct {
	attached map[string]certainty // by node id
	// since is the turn of the listing at which the attachment became certain, by node id.
	since     map[string]uint64
	staged    map[string]certainty // by node
	published map[target]certainty
	lock      lock
	handed    *handed
}

type target struct{ node, path string }

func (w *Watch) of(driver, id string) *state {
	k := key{driver, id}
	if w.volumes[k] == nil {
		w.volumes[k] = &state{}
	}
	return w.volumes[k]
}

// set stores the certainty of a place; never is not stored.
func set[K comparable](places *map[K]certainty, at K, is certainty) {
	switch {
	case is == never:
		delete(*places, at)
	case *places == nil:
		*places = map[K]certainty{at: is}
	default:
		(*places)[at] = is
	}
}

// Began records the start of a call.
func (w *Watch) Began(call *trace.Event) {
	w.lockBegan(call)
	switch r := call.Request.(type) {
	case *csi.NodeStageVolumeRequest:
		w.usedWhereAttached(call, r.GetVolumeId(), "staged")
		w.isGiven(call, r)
	case *csi.NodePublishVolumeRequest:
		w.usedWhereAttached(call, r.GetVolumeId(), "published")
		w.publishedWhereStaged(call, r)
		w.isGiven(call, r)
	case *csi.NodeUnstageVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		w.unstagedUnused(call, v, r)
		set(&v.staged, call.Node, v.staged[call.Node].left())
	case *csi.NodeUnpublishVolumeRequest:
		v, at := w.of(call.Driver, r.GetVolumeId()), target{call.Node, r.GetTargetPath()}
		set(&v.published, at, v.published[at].left())
	case *csi.ControllerUnpublishVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		w.detachedUnused(call, v, r)
		maps.DeleteFunc(v.since, func(id string, _ uint64) bool { return r.GetNodeId() == "" || id == r.GetNodeId() })
		// In any order: they are independent.
		for id := range v.attached {
			if r.GetNodeId() == "" || id == r.GetNodeId() {
				set(&v.attached, id, v.attached[id].left())
			}
		}
	case *csi.ListVolumesRequest:
		w.listBegan(call, r)
	case *csi.DeleteVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		w.deletedUnused(call, v, r)
		clear(v.since) // whatever the answer, it may be deleted
	}
}

// left returns the certainty of a state while a call that undoes it is in progress. Two calls may
// be in progress at once, for example the calls of a killed caller and of its successor. Then the
// error of one call does not show the effect of the other.
func (c certainty) left() certainty {
	switch c {
	case surely:
		return leaving
	case leaving:
		return maybe
	}
	return c
}

// Ended records the answer to a call.
func (w *Watch) Ended(call *trace.Event) {
	w.lockEnded(call)
	ok := call.Code == ""
	switch r := call.Request.(type) {
	case *csi.NodeGetInfoRequest:
		w.registered(call)
	case *csi.NodeGetCapabilitiesRequest:
		if !w.stages[call.Driver] {
			var caps contract.Caps
			caps.Learn(call.Response)
			w.stages[call.Driver] = caps.Node.Has("STAGE_UNSTAGE_VOLUME")
		}
	case *csi.ControllerGetCapabilitiesRequest:
		var caps contract.Caps
		caps.Learn(call.Response)
		w.listing.promised[call.Driver] = caps.Controller.Has("LIST_VOLUMES") && caps.Controller.Has("LIST_VOLUMES_PUBLISHED_NODES")
	case *csi.ListVolumesRequest:
		w.listed(call)
	case *csi.CreateVolumeRequest:
		w.created(call, r)
	case *csi.ControllerPublishVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		if ok {
			w.singleWriter(call, v, r)
			v.attachedWith(call, r)
		}
		w.attachedFor(call, v, r.GetNodeId())
		set(&v.attached, r.GetNodeId(), v.attached[r.GetNodeId()].made(ok))
	case *csi.NodeStageVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		v.stagedAt(call.Node, r.GetStagingTargetPath())
		set(&v.staged, call.Node, v.staged[call.Node].made(ok))
	case *csi.NodePublishVolumeRequest:
		v, at := w.of(call.Driver, r.GetVolumeId()), target{call.Node, r.GetTargetPath()}
		set(&v.published, at, v.published[at].made(ok))
	case *csi.NodeUnpublishVolumeRequest:
		v, at := w.of(call.Driver, r.GetVolumeId()), target{call.Node, r.GetTargetPath()}
		set(&v.published, at, v.published[at].undone(call))
	case *csi.NodeUnstageVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		if ok && v.handed != nil {
			delete(v.handed.staging, call.Node)
		}
		set(&v.staged, call.Node, v.staged[call.Node].undone(call))
	case *csi.ControllerUnpublishVolumeRequest:
		v := w.of(call.Driver, r.GetVolumeId())
		// In any order: they are independent.
		for id := range v.attached {
			if r.GetNodeId() == "" || id == r.GetNodeId() {
				set(&v.attached, id, v.attached[id].undone(call))
				if ok && v.handed != nil {
					delete(v.handed.attached, id)
				}
			}
		}
	case *csi.DeleteVolumeRequest:
		if ok {
			delete(w.volumes, key{call.Driver, r.GetVolumeId()})
		}
	}
}

// made returns the certainty of a state after the end of a call that creates it.
func (c certainty) made(ok bool) certainty {
	if ok {
		return surely
	}
	return max(c, maybe)
}

// answered is the effect of a fault that answers in the driver's place.
const answered trace.Effect = "answer"

// undone returns the certainty after the end of a call that undoes the state. If an error is
// injected, the driver has not received the call.
func (c certainty) undone(call *trace.Event) certainty {
	switch {
	case call.Code == "":
		return never
	case c != leaving:
		return c
	case call.Effect == answered:
		return surely
	}
	return maybe
}

// registered records the id that a plugin returns for its node. A volume that was attached under
// another id may be detached under this one.
func (w *Watch) registered(call *trace.Event) {
	answer, ok := call.Response.(*csi.NodeGetInfoResponse)
	if !ok || call.Code != "" {
		return
	}
	// In any order: they are independent.
	for before, node := range w.nodes {
		if before.driver == call.Driver && node == call.Node && before.id != answer.GetNodeId() {
			w.renamed(before)
			w.renames[key{call.Driver, call.Node}] = true
		}
	}
	w.nodes[key{call.Driver, answer.GetNodeId()}] = call.Node
}

// renamed forgets the former id of a node.
func (w *Watch) renamed(before key) {
	delete(w.nodes, before)
	// In any order: they are independent.
	for k, v := range w.volumes {
		if k.driver == before.driver {
			set(&v.attached, before.id, min(v.attached[before.id], maybe))
			delete(v.since, before.id)
		}
	}
}

// KubeletStarted records the start of a kubelet, possibly with its node. Mounts on the node may
// have vanished, and the kubelet may not have found the remaining ones. K-RECON-1, K-RECON-2
func (w *Watch) KubeletStarted(node string) {
	// In any order: they are independent.
	for _, v := range w.volumes {
		set(&v.staged, node, min(v.staged[node], maybe))
		// In any order: they are independent.
		for at := range v.published {
			if at.node == node {
				set(&v.published, at, min(v.published[at], maybe))
			}
		}
	}
}

// method returns the short name of a call.
func method(call *trace.Event) string { return path.Base(call.Method) }

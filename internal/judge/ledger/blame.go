package ledger

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/world/trace"
)

// OnNode assigns the blame for a thing at a path of a node. made is the call in which it first
// appeared; nil if it was not observed.
func (h *History) OnNode(e *Entry, place Place, made *trace.Event) {
	on := func(field protoreflect.Name, is func(string) bool) func(*trace.Event) bool {
		return func(call *trace.Event) bool { return call.Node == e.Node && is(text(call.Request, field)) }
	}
	if place.Kubelet {
		e.Made = h.inStep(h.changed(e))
	}
	switch {
	case place.Staging != "":
		h.blame(e, "NodeStageVolume", made, on("staging_target_path", func(p string) bool { return p == place.Staging }))
	case place.Target != "":
		h.blame(e, "NodePublishVolume", made, on("target_path", func(p string) bool { return p == place.Target }))
	default:
		h.blame(e, "NodePublishVolume", made, on("target_path", func(p string) bool {
			return strings.HasPrefix(p, place.Beneath+"/") || place.Pod != "" && strings.HasSuffix(p, "/"+place.Pod)
		}))
	}
	h.kubeletsLitter(e, place)
	h.forgottenPublish(e, place)
}

// InCall assigns the blame for a thing that a call made and that only its driver knows: a loop
// device, a mount or a process outside the kubelet's directory.
func (h *History) InCall(e *Entry, made *trace.Event) {
	e.Made = h.inStep(made)
	if undoes[method(made)] == "" {
		return
	}
	subject := h.subject(made)
	h.blame(e, method(made), made, func(call *trace.Event) bool {
		return call.Driver == made.Driver && call.Node == made.Node && h.subject(call) == subject
	})
	if made.Node != "" {
		h.kubeletsLitter(e, Place{})
	}
}

// ofController assigns the blame for an object that a controller plugin keeps in its backend.
func (h *History) ofController(e *Entry, make, driver, sidecar string, about func(*trace.Event) bool) {
	h.blame(e, make, nil, func(call *trace.Event) bool { return call.Driver == driver && about(call) })
	h.litterOf(e, sidecar+"/"+driver)
}

// Volume adds the calls about a volume in a backend. name is the name in CreateVolume; empty if the
// backend does not list it.
func (h *History) Volume(e *Entry, driver, id, name string) {
	h.created(e, "CreateVolume", driver, "csi-provisioner", "volume_id", id, name)
}

// Snapshot assigns the blame for a snapshot in a backend, alone or in a group.
func (h *History) Snapshot(e *Entry, driver, id string) {
	if group := h.groupOf(driver, id); group != "" {
		h.GroupSnapshot(e, driver, group)
		return
	}
	h.created(e, "CreateSnapshot", driver, "csi-snapshotter", "snapshot_id", id, "")
	if e.Made == nil { // the answer that named its group was lost
		h.GroupSnapshot(e, driver, id)
	}
}

// GroupSnapshot assigns the blame for a group of snapshots that a backend has.
func (h *History) GroupSnapshot(e *Entry, driver, id string) {
	h.created(e, "CreateVolumeGroupSnapshot", driver, "csi-snapshotter", "group_snapshot_id", id, "")
}

// groupOf returns the group with which a snapshot was made; empty if there is none.
func (h *History) groupOf(driver, snapshot string) string {
	for _, call := range h.calls {
		answer, ok := call.Response.(*csi.CreateVolumeGroupSnapshotResponse)
		if !ok || call.Driver != driver {
			continue
		}
		for _, member := range answer.GetGroupSnapshot().GetSnapshots() {
			if member.GetSnapshotId() == snapshot {
				return createdID(call)
			}
		}
	}
	return ""
}

// created looks for the call that answered the id. If no answer has the id, it looks for a failed
// call, because the answer may have been lost.
func (h *History) created(e *Entry, make, driver, sidecar string, field protoreflect.Name, id, name string) {
	answered := h.Creation(driver, make, id) != nil
	h.ofController(e, make, driver, sidecar, func(call *trace.Event) bool {
		switch {
		case method(call) != make:
			return text(call.Request, field) == id
		case answered:
			return createdID(call) == id
		default:
			return !succeeded(call) && (name == "" || text(call.Request, "name") == name)
		}
	})
	if e.Made == nil && make == "CreateVolume" { // an inline volume
		e.Undo, e.Undone = "", nil
		h.blame(e, "NodePublishVolume", nil, func(call *trace.Event) bool {
			return call.Driver == driver && text(call.Request, "volume_id") == id
		})
		if e.Made == nil { // every call that could have created it was answered with another volume
			e.Undo, e.Undone = "", nil
		}
	}
}

// Creation returns the first call that answered the id of a volume or snapshot.
func (h *History) Creation(driver, make, id string) *trace.Event {
	for _, call := range h.calls {
		if call.Driver == driver && method(call) == make && createdID(call) == id {
			return call
		}
	}
	return nil
}

// Attachment assigns the blame for a volume that a backend has attached to a node.
func (h *History) Attachment(e *Entry, driver, id, nodeID string) {
	h.ofController(e, "ControllerPublishVolume", driver, "csi-attacher", attaches(id, nodeID))
}

// VolumeAttachment assigns the blame for an object that no pod needs any more.
func (h *History) VolumeAttachment(e *Entry, driver, id, nodeID string) {
	for _, added := range h.adds {
		if added.Name == e.Name {
			e.Made = h.inStep(added)
		}
	}
	h.ofController(e, "ControllerPublishVolume", driver, "csi-attacher", attaches(id, nodeID))
	h.litterOf(e, "attachdetach-controller")
	h.litterOf(e, "kube-controller-manager")
}

func attaches(id, nodeID string) func(*trace.Event) bool {
	return func(call *trace.Event) bool {
		return text(call.Request, "volume_id") == id && text(call.Request, "node_id") == nodeID
	}
}

// Created returns the ids of the volumes, snapshots or group snapshots in a driver's answers to
// calls of the method. It leaves out those that the driver has deleted since, according to its
// answers.
func (h *History) Created(driver, make string) []string {
	var ids []string
	field := map[string]protoreflect.Name{
		"CreateVolume": "volume_id", "CreateSnapshot": "snapshot_id", "CreateVolumeGroupSnapshot": "group_snapshot_id",
	}[make]
	gone := map[string]bool{}
	for _, call := range h.calls {
		switch {
		case call.Driver != driver || !succeeded(call):
		case method(call) == make:
			if _, known := gone[createdID(call)]; !known {
				ids = append(ids, createdID(call))
			}
			gone[createdID(call)] = false
		case method(call) == undoes[make]:
			gone[text(call.Request, field)] = true
		}
	}
	kept := ids[:0]
	for _, id := range ids {
		if !gone[id] {
			kept = append(kept, id)
		}
	}
	return kept
}

// PublishedFor returns the target paths for which a volume was ever published.
func (h *History) PublishedFor(driver, id string) []string {
	var targets []string
	for _, call := range h.calls {
		if call.Driver == driver && method(call) == "NodePublishVolume" && text(call.Request, "volume_id") == id {
			targets = append(targets, text(call.Request, "target_path"))
		}
	}
	return targets
}

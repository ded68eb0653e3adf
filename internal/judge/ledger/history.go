package ledger

import (
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/world/trace"
)

// undoes maps creating calls to the calls that remove their results.
var undoes = map[string]string{
	"CreateVolume":              "DeleteVolume",
	"CreateSnapshot":            "DeleteSnapshot",
	"CreateVolumeGroupSnapshot": "DeleteVolumeGroupSnapshot",
	"ControllerPublishVolume":   "ControllerUnpublishVolume",
	"NodeStageVolume":           "NodeUnstageVolume",
	"NodePublishVolume":         "NodeUnpublishVolume",
	"FenceClusterNetwork":       "UnfenceClusterNetwork",
}

// changes are both.
var changes = func() map[string]bool {
	all := map[string]bool{}
	for make, undo := range undoes {
		all[make], all[undo] = true, true
	}
	return all
}()

// History holds the events of a trace that matter for blame.
type History struct {
	calls   []*trace.Event // calls that create or remove something
	changes []*trace.Event // of files, by kubelets
	adds    []*trace.Event // of VolumeAttachments
	deaths  []*trace.Event // faults and crashes
	wrapped []*trace.Event // probes that failed a mount before NodePublishVolume
	steps   []*trace.Event
}

// Read picks the events that matter from a trace.
func Read(events []*trace.Event) *History {
	h := &History{}
	for _, e := range events {
		switch {
		case e.Kind == trace.Call && Changes(e):
			h.calls = append(h.calls, e)
		case e.Kind == trace.AnswerLost:
			h.calls = append(h.calls, h.answered(e))
		case e.Kind == trace.FileChange && e.Code == "":
			h.changes = append(h.changes, e)
		case e.Kind == trace.API && e.Change == "ADDED" && e.Resource == "volumeattachments":
			h.adds = append(h.adds, e)
		case e.Kind == trace.KubeEvent && e.Method == "FailedMount" && strings.Contains(e.Message, wrappedProbe):
			h.wrapped = append(h.wrapped, e)
		case e.Kind == trace.FaultFired:
			h.deaths = append(h.deaths, e)
		case e.Kind == trace.Step:
			h.steps = append(h.steps, e)
		}
	}
	return h
}

// answered returns a call with the result that its driver saw: success, even if the caller never
// received the answer.
func (h *History) answered(lost *trace.Event) *trace.Event {
	call, site := *lost, *lost.Site
	site.Kind, call.Site = trace.Call, &site
	for _, asked := range slices.Backward(h.calls) {
		if asked.Seq == lost.Cause {
			call.Seq, call.At = asked.Seq, asked.At
			break
		}
	}
	return &call
}

// Changes reports whether a call makes or removes something.
func Changes(e *trace.Event) bool { return changes[method(e)] }

// inStep returns an event with its step.
func (h *History) inStep(e *trace.Event) *StepEvent {
	if e == nil {
		return nil
	}
	d := &StepEvent{Event: e}
	at, _ := slices.BinarySearchFunc(h.steps, e.Seq, func(step *trace.Event, seq uint64) int {
		return int(int64(step.Seq) - int64(seq))
	})
	if at > 0 {
		d.Step, d.Title = at, h.steps[at-1].Message
	}
	return d
}

// blame adds two calls to an entry: the call that created it, and the call that should have undone
// it. made is the first of them if it was observed. about selects the calls of the entry.
func (h *History) blame(e *Entry, make string, made *trace.Event, about func(*trace.Event) bool) {
	undo := undoes[make]
	var undone *trace.Event
	settled, seen := false, made != nil
	for _, call := range h.calls {
		if seen && (call.Seq <= made.Seq || settled) || !about(call) {
			continue
		}
		switch method(call) {
		case make:
			if !seen && (made == nil || settled || !succeeded(made) && succeeded(call)) {
				made = call
			}
			settled, undone = false, nil
		case undo:
			undone, settled = call, settled || succeeded(call)
		}
	}
	if e.Made == nil {
		e.Made = h.inStep(made)
	}
	e.Undo, e.Undone = undo, h.inStep(undone)
}

// changed returns the kubelet's last change that made the entry, nil if none did.
func (h *History) changed(e *Entry) *trace.Event {
	for _, change := range slices.Backward(h.changes) {
		bound := change.Method == "bind mount"
		if change.Method == "loop device on" { // this change creates nothing with that name
			continue
		}
		if change.Node == e.Node && change.Name == e.Name && bound == (e.Kind == Mount) && !strings.HasPrefix(change.Method, "remove") {
			return change
		}
	}
	return nil
}

// died returns the last exit of a named component after an event.
func (h *History) died(after *StepEvent, who func(*trace.Event) bool) *trace.Event {
	for _, e := range slices.Backward(h.deaths) {
		if (after == nil || e.Seq > after.Event.Seq) && who(e) {
			return e
		}
	}
	return nil
}

func method(e *trace.Event) string { return e.Method[strings.LastIndexByte(e.Method, '/')+1:] }

func succeeded(e *trace.Event) bool { return e.Code == "" && e.Response != nil }

// text returns a text field of a request, empty if it has none.
func text(m proto.Message, name protoreflect.Name) string {
	if m == nil {
		return ""
	}
	field := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind {
		return ""
	}
	return m.ProtoReflect().Get(field).String()
}

// volumeOf returns the volume of a call: its id or, if it is not created yet, its name.
func volumeOf(call *trace.Event) string {
	if id := text(call.Request, "volume_id"); id != "" {
		return id
	}
	return text(call.Request, "name")
}

// subject returns the id of the object of a call, or its name if no answer has the id.
func (h *History) subject(call *trace.Event) string {
	if id := createdID(call); id != "" {
		return id
	}
	for _, field := range []protoreflect.Name{"volume_id", "snapshot_id", "group_snapshot_id"} {
		if id := text(call.Request, field); id != "" {
			return id
		}
	}
	name := text(call.Request, "name")
	for _, other := range h.calls {
		if id := createdID(other); id != "" && method(other) == method(call) && other.Driver == call.Driver && text(other.Request, "name") == name {
			return id
		}
	}
	return name
}

// createdID returns the id of the volume, snapshot or group of snapshots that a call answered.
func createdID(call *trace.Event) string {
	switch answer := call.Response.(type) {
	case *csi.CreateVolumeResponse:
		return answer.GetVolume().GetVolumeId()
	case *csi.CreateSnapshotResponse:
		return answer.GetSnapshot().GetSnapshotId()
	case *csi.CreateVolumeGroupSnapshotResponse:
		return answer.GetGroupSnapshot().GetGroupSnapshotId()
	}
	return ""
}

// VolumeOf returns the id of the volume of a call.
func VolumeOf(call *trace.Event) string {
	if id := createdID(call); id != "" {
		return id
	}
	return text(call.Request, "volume_id")
}

// VolumeName returns the name that a call wanted a new volume to have.
func VolumeName(call *trace.Event) string { return text(call.Request, "name") }

// Makes reports whether a call creates something instead of removing it.
func Makes(call *trace.Event) bool { return Undo(call.Method) != "" }

// Undo returns the call that undoes another one, such as DeleteVolume for Controller/CreateVolume;
// empty if there is none.
func Undo(method string) string { return undoes[method[strings.LastIndexByte(method, '/')+1:]] }

// IDOf returns the id of the volume that was created under a name; empty if there is none.
func (h *History) IDOf(name string) string {
	for _, call := range h.calls {
		if method(call) == "CreateVolume" && succeeded(call) && VolumeName(call) == name {
			return createdID(call)
		}
	}
	return ""
}

package contract

import (
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

// Named holds the objects that a driver has created under names, according to all of its answers,
// even those that did not reach their callers. It forgets objects that the driver has deleted. The
// zero value has no observations.
type Named struct {
	made  map[label]string // the object's id, by method and name
	name  map[label]string // the object's name, by method and id
	again map[label]bool   // names with a second id, which is reported once
}

// label is a name, or an id, among those of one creating call.
type label struct{ method, text string }

// Answered records an answer OK. CSI "CreateVolume", "CreateSnapshot" and
// "CreateVolumeGroupSnapshot": one name means one object, and each object has its own id.
func (n *Named) Answered(method string, request, answer proto.Message) []verdict.Verdict {
	if making, id := undone(request); making != "" {
		n.forget(label{making, id})
		return nil
	}
	noun, name, id := Makes(request, answer)
	if noun == "" || name == "" || id == "" {
		return nil
	}
	if n.made == nil {
		n.made, n.name, n.again = map[label]string{}, map[label]string{}, map[label]bool{}
	}
	byName, byID := label{method, name}, label{method, id}
	before, known := n.made[byName]
	other, taken := n.name[byID]
	n.made[byName], n.name[byID] = id, name
	switch {
	case known && before != id && !n.again[byName]:
		n.again[byName] = true
		return broken(method, NotIdempotent, "%s %s, then %s", verdict.Kept(noun), before, id)
	case taken && other != name:
		return broken(method, twoNames, "%s %s for %s, then for %s", verdict.Kept(noun), id, other, name)
	}
	return nil
}

// Other returns the id of another object that a method has created: the first one by name; empty if
// there is none.
func (n *Named) Other(method, id string) string {
	for _, made := range slices.SortedFunc(maps.Keys(n.made), func(a, b label) int { return strings.Compare(a.text, b.text) }) {
		if made.method == method && n.made[made] != id {
			return n.made[made]
		}
	}
	return ""
}

func (n *Named) forget(byID label) {
	name, known := n.name[byID]
	if !known {
		return
	}
	delete(n.name, byID)
	if byName := (label{byID.method, name}); n.made[byName] == byID.text {
		delete(n.made, byName)
	}
}

// Makes returns the kind of object that a call has created, in one word, with its name and id. It
// is empty for calls that create no named object.
func Makes(request, answer proto.Message) (noun, name, id string) {
	switch a := answer.(type) {
	case *csi.CreateVolumeResponse:
		noun, id = "volume", a.GetVolume().GetVolumeId()
	case *csi.CreateSnapshotResponse:
		noun, id = "snapshot", a.GetSnapshot().GetSnapshotId()
	case *csi.CreateVolumeGroupSnapshotResponse:
		noun, id = "group snapshot", a.GetGroupSnapshot().GetGroupSnapshotId()
	default:
		return "", "", ""
	}
	if named, ok := request.(interface{ GetName() string }); ok {
		name = named.GetName()
	}
	return noun, name, id
}

// undone returns the creating call that a request undoes, and the id.
func undone(request proto.Message) (method, id string) {
	switch r := request.(type) {
	case *csi.DeleteVolumeRequest:
		return "Controller/CreateVolume", r.GetVolumeId()
	case *csi.DeleteSnapshotRequest:
		return "Controller/CreateSnapshot", r.GetSnapshotId()
	case *csi.DeleteVolumeGroupSnapshotRequest:
		return groupCreate, r.GetGroupSnapshotId()
	}
	return "", ""
}

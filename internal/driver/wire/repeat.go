package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// sendTwice gives the call to the driver and, when its effect has happened, once
// more. Its caller knows nothing of that: it gets the first answer.
func (c *call) sendTwice(f *fault.Fault) error {
	if err := c.pass(c.process, c.answer); err != nil {
		return err // nothing is known to have happened
	}
	made := c.wire.makings[c.site.Driver]
	first := c.outcome(nil)
	c.wire.note(c, contract.CheckEffect(c.method, c.request, first))
	again := c.again(f, c.request)
	err := again.whileCallerLives(func() error { return again.pass(c.process, again.answer) })
	again.end(err)
	if err == errDeadline || NobodyListens(err) {
		return nil // the caller gave up, or another fault killed the program: there is no answer to compare
	}
	second := again.outcome(err)
	if made.others() || c.wire.makings[c.site.Driver] != made {
		first.Volumes, second.Volumes = nil, nil // other volumes came meanwhile, too
	}
	c.wire.note(c, c.seen(contract.CheckRepeat(c.method, first, second), "made again, it has the same answer and changes nothing"))
	c.wire.note(c, c.checkLists())
	return nil
}

// making counts a driver's CreateVolume calls.
type making struct{ begun, ended int }

// others are under way, beside the one that asks.
func (m making) others() bool { return m.begun-m.ended > 1 }

// countMaking counts the call if it makes a volume; the result counts its end.
func (w *Wire) countMaking(c *call) (ended func()) {
	if c.method != "Controller/CreateVolume" {
		return func() {}
	}
	count := func(begun, ended int) {
		m := w.makings[c.site.Driver]
		w.makings[c.site.Driver] = making{m.begun + begun, m.ended + ended}
	}
	count(1, 0)
	return func() { count(0, 1) }
}

// again is the call once more, with this request, as an event of its own.
func (c *call) again(f *fault.Fault, request proto.Message) *call {
	event := c.wire.World.Trace.Begin(trace.Entry{
		Kind: trace.Call, Actor: c.site.Caller, Node: c.site.Node, Driver: c.site.Driver, Method: c.method,
		Request: request, Injected: f.InWords(), Effect: trace.Effect(f.Effect),
	})
	return &call{conn: c.conn, fullMethod: c.fullMethod, method: c.method, request: request, answer: c.blankAnswer(), event: event, struck: f, aside: true}
}

// outcome returns the visible outcome of the call so far.
func (c *call) outcome(err error) contract.Outcome {
	o := contract.Outcome{Err: err, Answer: proto.Clone(c.answer)}
	if c.site.Node != "" && strings.HasPrefix(c.method, "Node/") {
		o.Mounts = c.mountsOfRequest()
		o.Writable, o.Within = c.canWrite()
	} else if strings.HasPrefix(c.fullMethod, "/csi.v1.") { // CSI-Addons may have a socket of its own
		o.Volumes = c.volumesOfRequest()
	}
	return o
}

// mountsOfRequest lists the mounts at, and below, the request's paths.
func (c *call) mountsOfRequest() []string {
	mounts, err := c.site.Machine.Mounts()
	if err != nil {
		return nil // mounts that are not seen are not compared
	}
	var found []string
	for _, place := range pathsOf(c.request) {
		for _, m := range mounts {
			if m.Target == place || strings.HasPrefix(m.Target, place+"/") {
				found = append(found, fmt.Sprintf("of %s at %s", m.Root, m.Target))
			}
		}
	}
	return found
}

// canWrite tries to write to a file system that is published read-only: where it is
// published, and as a container that has it read-only.
func (c *call) canWrite() (there bool, within string) {
	r, ok := c.request.(*csi.NodePublishVolumeRequest)
	if !ok || !r.GetReadonly() || r.GetVolumeCapability().GetMount() == nil {
		return false, ""
	}
	mounts, err := c.site.Machine.Mounts()
	if err != nil {
		return false, ""
	}
	target := r.GetTargetPath()
	places := []string{target}
	for _, m := range mounts {
		if strings.HasPrefix(m.Target, target+"/") {
			places = append(places, m.Target)
		}
	}
	if within = machine.WritesReadOnly(c.site.Machine, target, places); within != "" {
		return true, within
	}
	if slices.ContainsFunc(mounts, func(m machine.Mount) bool { return m.Target == target && m.ReadOnly }) {
		return false, ""
	}
	return machine.CanWrite(c.site.Machine, target), ""
}

// pathsOf are the paths that a request to a node names.
func pathsOf(request proto.Message) []string {
	var paths []string
	m := request.ProtoReflect()
	for _, name := range pathFields {
		if field := m.Descriptor().Fields().ByName(name); field != nil && m.Get(field).String() != "" {
			paths = append(paths, m.Get(field).String())
		}
	}
	return paths
}

// volumesOfRequest lists the volume that the request is about and where it is
// published, if the driver promises to know; of CreateVolume all there are, since it
// could make another one. It is empty if the driver cannot list.
func (c *call) volumesOfRequest() []contract.Listed {
	caps := c.wire.capsOf(c.site.Driver).Controller
	if !caps.Has("LIST_VOLUMES") {
		return nil
	}
	_, creates := c.answer.(*csi.CreateVolumeResponse)
	var found []contract.Listed
	var listed []*csi.ListVolumesResponse_Entry
	if err := c.awaitNodes(func() (err error) { listed, err = c.volumes(0); return err }); err != nil {
		return nil
	}
	for _, entry := range listed {
		if id := entry.GetVolume().GetVolumeId(); creates || id == volumeOf(c.request) {
			l := contract.Listed{ID: id, Bytes: entry.GetVolume().GetCapacityBytes()}
			if caps.Has("LIST_VOLUMES_PUBLISHED_NODES") {
				l.Nodes = strings.Join(slices.Sorted(slices.Values(entry.GetStatus().GetPublishedNodeIds())), " ")
			}
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b contract.Listed) int { return strings.Compare(a.ID, b.ID) })
	return found
}

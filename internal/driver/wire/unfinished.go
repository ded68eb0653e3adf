package wire

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// noteWork records the work outside the calls that an answer of a driver announces or finishes. Go
// code of this process does no such work.
func (c *call) noteWork(answer proto.Message, err error) {
	if c.wire.Work == nil || InProcess(c.site.Machine) {
		return
	}
	if program := c.Program(); program != nil && err != effect.ErrHeld && c.wire.stalled[c.site.Driver] == 0 {
		c.wire.Work.Called(program)
	}
	c.noteCallWork(err)
	if err != nil {
		return
	}
	c.noteDetachment()
	c.noteSnapshots(answer)
	c.noteNodes(answer)
}

// noteCallWork records whether the driver is still working on the subject of the call, such as a
// volume.
func (c *call) noteCallWork(err error) {
	about := contract.VolumeOf(c.request)
	if about == "" || !c.changes() {
		return
	}
	key := callKey(c.event)
	switch {
	case err == effect.ErrHeld, c.disturbedByFault(err), c.wire.stalled[c.site.Driver] > 0:
	case c.worksOn(err):
		c.wire.Work.Announce(c.site.Driver, key, path.Base(c.method)+", answered with "+codeName(status.Code(err)))
	default:
		c.wire.Work.Finish(key)
	}
}

// callKey returns the key of the work that a call announces.
func callKey(call *trace.Event) string {
	return strings.Join([]string{"call", call.Driver, call.Node, contract.VolumeOf(call.Request)}, " ")
}

// MayWork reports whether the driver may still be working on the volume of a call, and still gets
// time for that work.
func (w *Wire) MayWork(call *trace.Event) bool { return w.Work != nil && w.Work.Pending(callKey(call)) }

// changes reports whether the call has an effect.
func (c *call) changes() bool {
	switch path.Base(c.method) {
	case "ValidateVolumeCapabilities", "ControllerGetVolume", "NodeGetVolumeStats", "GetSnapshot", "GetVolumeGroupSnapshot":
		return false
	}
	return true
}

// disturbedByFault reports whether the call's fault may have influenced the answer.
func (c *call) disturbedByFault(err error) bool {
	if c.fault == nil {
		return false
	}
	if disturbs := effect.Of(c.fault.Effect).Disturbs; disturbs != nil {
		return disturbs(status.Code(err))
	}
	return c.aside
}

// worksOn reports whether an error means that the driver may still be working on the volume.
// C-LIB-9
func (c *call) worksOn(err error) bool {
	switch status.Code(err) {
	case codes.Aborted:
		return true
	case codes.Unavailable, codes.DeadlineExceeded:
		return !isConnection(err)
	case codes.FailedPrecondition, codes.ResourceExhausted, codes.Internal, codes.Unknown:
		return c.mayBeDetaching()
	}
	return false
}

// isConnection reports whether an error is about the connection, instead of an answer of a driver.
func isConnection(err error) bool {
	return NobodyListens(err) || isBroken(err) || err == effect.ErrConnectionLost || err == effect.ErrDeadline || err == effect.ErrCallerExited ||
		status.Convert(err).Message() == "context deadline exceeded"
}

// mayBeDetaching reports whether the call needs the detachment of a volume that has just been
// detached, because a driver may answer before the detachment is finished.
func (c *call) mayBeDetaching() bool {
	switch c.method {
	case "Controller/DeleteVolume", "Controller/ControllerPublishVolume":
		last := c.wire.publishedOf(c.site.Driver).lastDetached
		return !last.IsZero() && time.Since(last) < c.wire.Work.Limit()
	}
	return false
}

func codeName(code codes.Code) string {
	if code == codes.Aborted {
		return "ABORTED"
	}
	return code.String()
}

// published holds the nodes on which the volumes of a driver are published, according to its
// answers.
type published struct {
	// By volume and node; false after the volume was unpublished there.
	nodes        map[string]map[string]bool
	changed      map[string]uint64 // the last event before a volume's nodes changed, by volume
	lastDetached time.Time         // wall time of the last OK to ControllerUnpublishVolume
}

// noteDetachment notes where a volume is published from now on.
func (c *call) noteDetachment() {
	w, driver := c.wire, c.site.Driver
	set := func(volume, node string, is bool) {
		p := w.publishedOf(driver)
		if p.nodes[volume] == nil {
			p.nodes[volume] = map[string]bool{}
		}
		p.nodes[volume][node] = is
		p.changed[volume] = w.World.Trace.Last()
		w.Work.Finish(nodesKey(driver, volume)) // earlier lists are outdated
	}
	switch r := c.request.(type) {
	case *csi.ControllerPublishVolumeRequest:
		set(r.GetVolumeId(), r.GetNodeId(), true)
	case *csi.ControllerUnpublishVolumeRequest:
		w.publishedOf(driver).lastDetached = time.Now()
		if r.GetNodeId() == "" {
			for node := range w.publishedOf(driver).nodes[r.GetVolumeId()] {
				set(r.GetVolumeId(), node, false)
			}
			return
		}
		set(r.GetVolumeId(), r.GetNodeId(), false)
	case *csi.DeleteVolumeRequest:
		w.Work.Finish(nodesKey(driver, r.GetVolumeId()))
		delete(w.publishedOf(driver).nodes, r.GetVolumeId())
	}
}

func (w *Wire) publishedOf(driver string) *published {
	p := w.published[driver]
	if p == nil {
		p = &published{nodes: map[string]map[string]bool{}, changed: map[string]uint64{}}
		w.published[driver] = p
	}
	return p
}

func nodesKey(driver, volume string) string { return "nodes " + driver + " " + volume }

// noteNodes records whether the driver lists a volume at other nodes than its answers imply. A list
// that was requested before the latest of these answers may not show the result of that answer.
func (c *call) noteNodes(answer proto.Message) {
	if !c.wire.CapsOf(c.site.Driver).Controller.Has("LIST_VOLUMES_PUBLISHED_NODES") {
		return
	}
	switch a := answer.(type) {
	case *csi.ListVolumesResponse:
		for _, e := range a.GetEntries() {
			c.noteNodesOf(e.GetVolume().GetVolumeId(), e.GetStatus().GetPublishedNodeIds())
		}
	case *csi.ControllerGetVolumeResponse:
		c.noteNodesOf(a.GetVolume().GetVolumeId(), a.GetStatus().GetPublishedNodeIds())
	}
}

func (c *call) noteNodesOf(volume string, listed []string) {
	w, driver := c.wire, c.site.Driver
	p := w.publishedOf(driver)
	if c.event.Seq <= p.changed[volume] {
		return
	}
	for node, is := range p.nodes[volume] {
		if slices.Contains(listed, node) != is {
			w.Work.Announce(driver, nodesKey(driver, volume), "published nodes that still change")
			return
		}
	}
	w.Work.Finish(nodesKey(driver, volume))
}

// AwaitNodes lists the volumes repeatedly while virtual time is stopped. It ends when the driver
// lists the call's volume at the nodes that its answers imply, or at its time limit.
func (c *call) AwaitNodes(list func() error) error {
	key, pause := nodesKey(c.site.Driver, contract.VolumeOf(c.request)), time.Millisecond
	err := list()
	for err == nil && c.wire.Work != nil && c.wire.Work.Pending(key) {
		c.process.Fly("a job of "+c.site.Driver, kernel.Matter{}, c.process.Elapsed()+time.Minute, func() { time.Sleep(pause) }, nil)
		c.wire.Work.Waited(key, pause)
		pause = min(2*pause, 100*time.Millisecond)
		err = list()
	}
	return err
}

// AwaitSettled makes a call about a volume repeatedly while virtual time is stopped. It ends when
// the answer is settled, or at its time limit: a driver may attach and detach in jobs.
func (c *call) AwaitSettled(volume string, call func() error, settled func(error) bool) error {
	err := call()
	if c.wire.Work == nil || InProcess(c.site.Machine) || settled(err) {
		return err
	}
	key, pause := "attachment "+c.site.Driver+" "+volume, time.Millisecond
	c.wire.Work.Announce(c.site.Driver, key, "volumes that are attached and detached after an answer")
	defer c.wire.Work.Finish(key)
	for !settled(err) && c.wire.Work.Pending(key) {
		c.process.Fly("a job of "+c.site.Driver, kernel.Matter{}, c.process.Elapsed()+time.Minute, func() { time.Sleep(pause) }, nil)
		c.wire.Work.Waited(key, pause)
		pause = min(2*pause, time.Second)
		err = call()
	}
	return err
}

// noteSnapshots notes which snapshots and group snapshots are not ready.
func (c *call) noteSnapshots(answer proto.Message) {
	note := func(id string, ready bool) {
		key := "snapshot " + c.site.Driver + " " + id
		if ready {
			c.wire.Work.Finish(key)
		} else if id != "" {
			c.wire.Work.Announce(c.site.Driver, key, "snapshots that are not ready to use")
		}
	}
	snapshot := func(s *csi.Snapshot) { note(s.GetSnapshotId(), s == nil || s.GetReadyToUse()) }
	switch a := answer.(type) {
	case interface{ GetSnapshot() *csi.Snapshot }:
		snapshot(a.GetSnapshot())
	case *csi.ListSnapshotsResponse:
		for _, e := range a.GetEntries() {
			snapshot(e.GetSnapshot())
		}
	case interface {
		GetGroupSnapshot() *csi.VolumeGroupSnapshot
	}:
		note(a.GetGroupSnapshot().GetGroupSnapshotId(), a.GetGroupSnapshot().GetReadyToUse())
	}
	switch r := c.request.(type) {
	case *csi.DeleteSnapshotRequest:
		note(r.GetSnapshotId(), true)
	case *csi.DeleteVolumeGroupSnapshotRequest:
		note(r.GetGroupSnapshotId(), true)
		for _, id := range r.GetSnapshotIds() {
			note(id, true)
		}
	}
}

package wire

import (
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// stamp is a time from a program's real clock, and the corresponding time of the cluster.
type stamp struct{ real, virtual time.Time }

// setClock replaces the times of snapshots that a program created in this call with the cluster's
// time. On a node, a driver and the rest of the cluster share one clock. It does not replace older
// times, or times that change.
func (c *call) setClock(answer proto.Message, began time.Time) {
	if c.wire.RealClock || InProcess(c.site.Machine) {
		return
	}
	for _, s := range stampsIn(answer) {
		real := s.at.AsTime()
		key := c.site.Driver + " " + s.of
		known, ok := c.wire.stamps[key]
		if !ok && !real.Before(began.Truncate(time.Second)) && !real.After(time.Now()) {
			known, ok = stamp{real, c.wire.World.Kernel.Now()}, true
			c.wire.stamps[key] = known
		}
		if ok && known.real.Equal(real) {
			s.at.Seconds, s.at.Nanos = known.virtual.Unix(), int32(known.virtual.Nanosecond())
		}
	}
}

// creation holds the time at which an object was created.
type creation struct {
	of string // the id of a snapshot or of a group
	at *timestamppb.Timestamp
}

func stampsIn(answer proto.Message) (found []creation) {
	add := func(id string, at *timestamppb.Timestamp) {
		if at != nil {
			found = append(found, creation{id, at})
		}
	}
	if one, ok := answer.(interface{ GetSnapshot() *csi.Snapshot }); ok {
		add(one.GetSnapshot().GetSnapshotId(), one.GetSnapshot().GetCreationTime())
	}
	if list, ok := answer.(*csi.ListSnapshotsResponse); ok {
		for _, entry := range list.GetEntries() {
			add(entry.GetSnapshot().GetSnapshotId(), entry.GetSnapshot().GetCreationTime())
		}
	}
	if one, ok := answer.(interface {
		GetGroupSnapshot() *csi.VolumeGroupSnapshot
	}); ok {
		group := one.GetGroupSnapshot()
		add(group.GetGroupSnapshotId(), group.GetCreationTime())
		for _, s := range group.GetSnapshots() {
			add(s.GetSnapshotId(), s.GetCreationTime())
		}
	}
	return found
}

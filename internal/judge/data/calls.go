package data

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// Ended records the end of a driver call, because it may create or delete volumes and snapshots.
func (c *Check) Ended(call *trace.Event) {
	id := func(name string) Volume { return Volume{Driver: call.Driver, Handle: name} }
	copies := copiesOf(call)
	for _, copied := range copies {
		c.attempted(copied, call.At)
	}
	if call.Code != "" {
		return
	}
	switch answer := call.Response.(type) {
	case *csi.CreateVolumeResponse:
		request, _ := call.Request.(*csi.CreateVolumeRequest)
		made, source := id(answer.GetVolume().GetVolumeId()), request.GetVolumeContentSource()
		c.created(made, source == nil)
		if snapshot := source.GetSnapshot().GetSnapshotId(); snapshot != "" {
			c.copies[made] = c.snapshots[id(snapshot)]
		}
		for _, copied := range copies {
			c.copies[made] = c.attempts[copied]
		}
	case *csi.CreateSnapshotResponse:
		for _, copied := range copies {
			c.snapshots[id(answer.GetSnapshot().GetSnapshotId())] = c.attempts[copied]
		}
	case *csi.CreateVolumeGroupSnapshotResponse:
		for _, member := range answer.GetGroupSnapshot().GetSnapshots() {
			c.snapshots[id(member.GetSnapshotId())] = c.attempts[copyInGroup(call, member.GetSourceVolumeId())]
		}
	case *csi.NodePublishVolumeResponse:
		request, _ := call.Request.(*csi.NodePublishVolumeRequest)
		if v := request.GetVolumeId(); volume.IsInlineHandle(v) {
			c.created(id(v), true)
		}
	case *csi.NodeUnpublishVolumeResponse:
		request, _ := call.Request.(*csi.NodeUnpublishVolumeRequest)
		if v := request.GetVolumeId(); volume.IsInlineHandle(v) {
			c.deleted(id(v))
		}
	case *csi.DeleteVolumeResponse:
		request, _ := call.Request.(*csi.DeleteVolumeRequest)
		c.deleted(id(request.GetVolumeId()))
	}
}

// copiesOf returns the copies of volumes that a call requests, if any.
func copiesOf(call *trace.Event) (all []Copy) {
	switch request := call.Request.(type) {
	case *csi.CreateSnapshotRequest:
		all = append(all, copyAs(call, request.GetName(), request.GetSourceVolumeId()))
	case *csi.CreateVolumeRequest:
		if source := request.GetVolumeContentSource().GetVolume(); source != nil {
			all = append(all, copyAs(call, request.GetName(), source.GetVolumeId()))
		}
	case *csi.CreateVolumeGroupSnapshotRequest:
		for _, source := range request.GetSourceVolumeIds() {
			all = append(all, copyInGroup(call, source))
		}
	}
	return all
}

// copyInGroup returns the copy of one volume in a group snapshot.
func copyInGroup(call *trace.Event, source string) Copy {
	request, _ := call.Request.(*csi.CreateVolumeGroupSnapshotRequest)
	return copyAs(call, request.GetName()+" "+source, source)
}

func copyAs(call *trace.Event, name, volume string) Copy {
	return Copy{Name: call.Method + " " + name, From: Volume{Driver: call.Driver, Handle: volume}}
}

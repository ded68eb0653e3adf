package sim

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/ledger/datacheck"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// startDataCheck lets the containers of pods write to their volumes and read.
func (c *Simulation) startDataCheck() {
	if c.options.NoDataCheck {
		return
	}
	c.data = datacheck.New()
	c.data.Serves = func(driver, node string) bool {
		c.World.Kernel.Changes("driver " + driver) // whose volumes are about to be read and written
		p, err := c.plugin(driver, node)
		return err == nil && p.running
	}
	c.data.OnViolation = func(u datacheck.Use, text string) {
		c.lost = append(c.lost, text)
		c.World.Trace.Add(trace.Entry{Kind: trace.DataLost, Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver, Name: u.Pod, Message: text})
	}
	c.data.OnWrite = func(u datacheck.Use) { c.promises.Wrote(u.Pod, u.Volume.Driver, u.Volume.Handle, u.Node) }
}

// followData has the data check follow volumes and snapshots that come and go.
func (c *Simulation) followData(call *trace.Event) {
	if c.data == nil {
		return
	}
	id := func(name string) datacheck.Volume { return datacheck.Volume{Driver: call.Driver, Handle: name} }
	copied := copyOf(call)
	if copied.From.Handle != "" {
		c.data.Attempted(copied)
	}
	if request, ok := call.Request.(*csi.CreateVolumeGroupSnapshotRequest); ok {
		for _, source := range request.GetSourceVolumeIds() {
			c.data.Attempted(copyInGroup(call, source))
		}
	}
	if call.Code != "" {
		return
	}
	switch answer := call.Response.(type) {
	case *csi.CreateVolumeResponse:
		request, _ := call.Request.(*csi.CreateVolumeRequest)
		made, source := id(answer.GetVolume().GetVolumeId()), request.GetVolumeContentSource()
		c.data.Made(made, source == nil)
		if snapshot := source.GetSnapshot().GetSnapshotId(); snapshot != "" {
			c.data.Restored(made, id(snapshot))
		}
		if source.GetVolume() != nil {
			c.data.Cloned(made, copied)
		}
	case *csi.CreateSnapshotResponse:
		c.data.Snapped(id(answer.GetSnapshot().GetSnapshotId()), copied)
	case *csi.CreateVolumeGroupSnapshotResponse:
		for _, member := range answer.GetGroupSnapshot().GetSnapshots() {
			c.data.Snapped(id(member.GetSnapshotId()), copyInGroup(call, member.GetSourceVolumeId()))
		}
	case *csi.NodePublishVolumeResponse:
		request, _ := call.Request.(*csi.NodePublishVolumeRequest)
		if v := request.GetVolumeId(); volume.IsInlineHandle(v) {
			c.data.Made(id(v), true)
		}
	case *csi.NodeUnpublishVolumeResponse:
		request, _ := call.Request.(*csi.NodeUnpublishVolumeRequest)
		if v := request.GetVolumeId(); volume.IsInlineHandle(v) {
			c.data.Gone(id(v))
		}
	case *csi.DeleteVolumeResponse:
		request, _ := call.Request.(*csi.DeleteVolumeRequest)
		c.data.Gone(id(request.GetVolumeId()))
	}
}

// copyOf is the copy of a volume that a call asks for, if any.
func copyOf(call *trace.Event) datacheck.Copy {
	switch request := call.Request.(type) {
	case *csi.CreateSnapshotRequest:
		return copyAs(call, request.GetName(), request.GetSourceVolumeId())
	case *csi.CreateVolumeRequest:
		return copyAs(call, request.GetName(), request.GetVolumeContentSource().GetVolume().GetVolumeId())
	}
	return datacheck.Copy{}
}

// copyInGroup is the copy of one volume of a group of snapshots.
func copyInGroup(call *trace.Event, source string) datacheck.Copy {
	request, _ := call.Request.(*csi.CreateVolumeGroupSnapshotRequest)
	return copyAs(call, request.GetName()+" "+source, source)
}

func copyAs(call *trace.Event, name, volume string) datacheck.Copy {
	return datacheck.Copy{Name: call.Method + " " + name, From: datacheck.Volume{Driver: call.Driver, Handle: volume}}
}

// ReadData lets all pods that run read once more what was written to their volumes.
func (c *Simulation) ReadData() {
	for _, n := range c.nodes {
		if c.options.Context.Err() != nil {
			return
		}
		if n.kubelet != nil && c.data != nil {
			n.kubelet.ReadData()
		}
	}
}

// LostData are the pods that did not find in a volume what was written there, each
// in one line.
func (c *Simulation) LostData() []string { return c.lost }

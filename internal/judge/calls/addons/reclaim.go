package addons

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/trace"
)

// deletion checks the invariant that nothing is reclaimed from a deleted volume.
func (c *Check) deletion(call *trace.Event) {
	switch request := call.Request.(type) {
	case *csi.CreateVolumeRequest:
		answer, _ := call.Response.(*csi.CreateVolumeResponse)
		delete(c.deleted, Volume{call.Driver, answer.GetVolume().GetVolumeId()})
	case *csi.DeleteVolumeRequest:
		v := Volume{call.Driver, request.GetVolumeId()}
		c.deleted[v] = true
		delete(c.replicas, v)
	case *reclaimspace.ControllerReclaimSpaceRequest:
		c.reclaimed(call, request.GetVolumeId())
	case *reclaimspace.NodeReclaimSpaceRequest:
		c.reclaimed(call, request.GetVolumeId())
	}
}

func (c *Check) reclaimed(call *trace.Event, id string) {
	if c.deleted[Volume{call.Driver, id}] {
		c.breach(call, "reclaims space of a deleted volume", verdict.Say("volume %s is gone since DeleteVolume answered OK", id))
	}
}

package sim

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/sim/datacheck"
	"github.com/csisim/csisim/sim/trace"
)

// startDataCheck lets the containers of pods write to their volumes and read.
func (c *Cluster) startDataCheck() {
	if c.options.NoDataCheck {
		return
	}
	c.data = datacheck.New()
	c.data.Serves = func(driver, node string) bool {
		p, err := c.plugin(driver, node)
		return err == nil && p.running
	}
	c.data.Tell = func(u datacheck.Use, text string) {
		c.lost = append(c.lost, text)
		c.World.Trace.Add(&trace.Event{Kind: trace.DataLost, Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver, Name: u.Pod, Message: text})
	}
}

// tellData tells the data check of volumes that come and go.
func (c *Cluster) tellData(call *trace.Event) {
	if c.data == nil || call.Code != "" {
		return
	}
	switch request := call.Request.(type) {
	case *csi.CreateVolumeRequest:
		if answer, ok := call.Response.(*csi.CreateVolumeResponse); ok {
			made := datacheck.Volume{Driver: call.Driver, Handle: answer.GetVolume().GetVolumeId()}
			c.data.Made(made, request.GetVolumeContentSource() == nil)
		}
	case *csi.DeleteVolumeRequest:
		c.data.Gone(datacheck.Volume{Driver: call.Driver, Handle: request.GetVolumeId()})
	}
}

// ReadData lets all pods that run read once more what was written to their volumes.
func (c *Cluster) ReadData() {
	for _, n := range c.nodes {
		if n.kubelet != nil && c.data != nil {
			n.kubelet.ReadData()
		}
	}
}

// LostData are the pods that did not find in a volume what was written there, each
// in one line.
func (c *Cluster) LostData() []string { return c.lost }

package sim

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// startDataCheck lets the containers of pods write to their volumes and read.
func (c *Simulation) startDataCheck() {
	if c.options.NoDataCheck {
		return
	}
	c.data = data.New()
	c.data.Now = c.World.Kernel.Elapsed
	c.data.Serves = func(driver, node string) bool {
		// Its volumes are about to be read and written.
		c.World.Kernel.Changes("driver " + driver)
		p, err := c.plugin(driver, node)
		return err == nil && p.running
	}
	c.data.OnViolation = func(u data.Use, v verdict.Verdict) {
		if v.Remark {
			c.Wire.Report(&trace.Event{Site: &trace.Site{Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver}}, v)
			return
		}
		c.lost = append(c.lost, v)
		c.World.Trace.Add(trace.Entry{Kind: trace.DataLost, Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver, Name: u.Pod, Message: v.Found[0], Detail: v})
	}
	c.data.MayBeReadOnly = func(data.Use) bool {
		return slices.ContainsFunc(c.World.Trace.Events(), mayMakeReadOnly)
	}
	c.data.OnWrite = func(u data.Use) { c.promises.Wrote(u.Pod, u.Volume.Driver, u.Volume.Handle, u.Node) }
}

// mayMakeReadOnly reports whether volumes that Kubernetes has requested as writable may be
// read-only after an event: a file system with an error is, and CSI-Addons and changed attributes
// may request it.
func mayMakeReadOnly(e *trace.Event) bool {
	switch e.Kind {
	case trace.FaultFired:
		return true
	case trace.Call:
		service, _, ofAddons := strings.Cut(e.Method, ".")
		return e.Injected != "" || ofAddons && service != "identity" || e.Method == "Controller/ControllerModifyVolume"
	}
	return false
}

// ReadData lets all running pods read the content of their volumes once more.
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

// LostData returns the pods that did not find the content that was written to a volume, each in one
// line.
func (c *Simulation) LostData() []string { return texts(c.lost) }

// texts are verdicts without their titles, each in one line.
func texts(judged []verdict.Verdict) (all []string) {
	for _, v := range judged {
		all = append(all, v.Found[0])
	}
	return all
}

func (c *Simulation) lostData() []verdict.Verdict { return c.lost }

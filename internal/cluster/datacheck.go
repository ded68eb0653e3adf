package cluster

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// startDataCheck makes the containers of pods write to their volumes and read them.
func (c *Checks) startDataCheck() {
	if c.NoData {
		return
	}
	c.Data = data.New()
	c.Data.Now = c.World.Kernel.Elapsed
	c.Data.Serves = func(driver, node string) bool {
		// Its volumes are about to be read and written.
		c.World.Kernel.Changes("driver " + driver)
		return c.serves(driver, node)
	}
	c.Data.OnViolation = func(u data.Use, v verdict.Verdict) {
		if v.Remark {
			c.Wire.Report(&trace.Event{Site: &trace.Site{Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver}}, v)
			return
		}
		c.Lost = append(c.Lost, v)
		c.World.Trace.Add(trace.Entry{Kind: trace.DataLost, Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver, Name: u.Pod, Message: v.Found[0], Detail: v})
	}
	c.Data.MayBeReadOnly = func(data.Use) bool {
		return slices.ContainsFunc(c.World.Trace.Events(), mayMakeReadOnly)
	}
	c.Data.OnWrite = func(u data.Use) { c.Promises.Wrote(u.Pod, u.Volume.Driver, u.Volume.Handle, u.Node) }
}

// mayMakeReadOnly reports whether an event can make volumes read-only that Kubernetes has requested
// as writable. A file system error does, and CSI-Addons and changed attributes may request it.
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

package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// Given a fault that kills a component at a call and restarts it ten seconds later, when the test
// stops the component meanwhile, then it stays down until the test starts it.
func TestAFaultDoesNotRestartAStoppedComponent(t *testing.T) {
	type act func(*sim.Cluster)
	kill := func(component sim.Component) act { return func(c *sim.Cluster) { c.Kill(component) } }
	start := func(component sim.Component) act { return func(c *sim.Cluster) { c.Start(component) } }
	for _, k := range []struct {
		victim     fault.Victim
		call       string
		end, start act
		never      string // missing in the notes meanwhile
		until      string // this call never happens
	}{
		{fault.Driver, "NodeStageVolume", kill(sim.Plugin{Driver: driver, Node: "node-a"}), start(sim.Plugin{Driver: driver, Node: "node-a"}), "driver " + driver + " on node-a started", "NodePublishVolume"},
		{fault.Kubelet, "NodeStageVolume", kill(sim.Kubelet("node-a")), start(sim.Kubelet("node-a")), "kubelet started", "NodePublishVolume"},
		{fault.Node, "NodeStageVolume", func(c *sim.Cluster) { c.PowerOff("node-a") }, func(c *sim.Cluster) { c.PowerOn("node-a") }, "power on", "NodePublishVolume"},
		{fault.Caller, "CreateVolume", kill(sim.Controller("csi-provisioner/" + driver)), start(sim.Controller("csi-provisioner/" + driver)), "csi-provisioner/" + driver + " started", "ControllerPublishVolume"},
		{"kube-controller-manager", "CreateVolume", kill(sim.Controller("attachdetach")), start(sim.Controller("attachdetach")), "attachdetach started", "ControllerPublishVolume"},
	} {
		t.Run(string(k.victim), func(t *testing.T) {
			c := sim.New(t, withMock, sim.WithFaults(fault.Fault{Call: k.call, Effect: fault.Kill, Victim: k.victim, At: fault.OnReceipt, RestartAfter: 10 * time.Second, Times: 1}))
			c.Apply(storage, pod("web", "node-a"))
			c.Until(expect.Calls{Patterns: []expect.Call{{Call: k.call}}})
			k.end(c)
			c.Advance(time.Minute)
			c.ExpectNoCalls(k.until)
			assert.NotContains(t, notes(c), k.never)
			k.start(c)
			assert.Contains(t, notes(c), k.never)
			c.Until(running)
		})
	}
}

// notes returns the events of the cluster's programs.
func notes(c *sim.Cluster) (all []string) {
	for _, e := range c.Simulation().World.Trace.Events() {
		if e.Kind == trace.FaultFired {
			all = append(all, e.Message)
		}
	}
	return all
}

package realcluster

import (
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// carryOut kills or starts a component that the proxy itself cannot reach: the victim of a fault at
// a call. The call waits for the victim's death.
func (l *callLog) carryOut(r proxy.Record, at place) {
	err := l.obey(r)
	if err == nil && r.M == proxy.Kill && !l.dark[at.node] {
		_, err = l.ask(l.ctx, at, "POST", "/killed", nil, nil)
		err = environment(err, "reach the proxy in %s", at)
	}
	if err != nil {
		l.end(err)
	}
}

func (l *callLog) obey(r proxy.Record) error {
	victim := fault.Victim(r.Msg)
	if victim == fault.Node {
		if r.M == proxy.Start { // the record comes from a proxy outside the node
			return l.PowerOn(r.Node)
		}
		l.powerOnAfter(r.Node, l.outage(r.Node))
		return l.PowerOff(r.Node)
	}
	component := sim.Component(sim.Controller(r.Msg))
	switch {
	case victim == fault.Kubelet, victim == fault.Caller && r.From == "kubelet":
		component = sim.Kubelet(r.Node)
	case victim == fault.Caller:
		component = sim.Controller(r.From + "/" + r.Driver)
	}
	if r.M == proxy.Kill {
		return l.Kill(component)
	}
	return l.Start(component)
}

// outage returns how long a fault cuts the power of a node; 0 if the power does not return. The
// proxy that triggers the fault usually runs on the node itself, and cannot restore the power.
func (c *Cluster) outage(node string) time.Duration {
	for _, f := range c.faults {
		if f.Effect == fault.Kill && f.Victim == fault.Node && (f.Node == "" || f.Node == node) {
			return f.RestartAfter
		}
	}
	return 0
}

// powerOnAfter boots a node some time after the start of the next outage, unless a step boots it
// before.
func (c *Cluster) powerOnAfter(node string, d time.Duration) {
	if d == 0 {
		return
	}
	outage := c.outages[node] + 1
	boot := func() {
		if c.dark[node] && c.outages[node] == outage {
			if err := c.PowerOn(node); err != nil {
				c.end(err)
			}
		}
	}
	time.AfterFunc(d, func() { c.queue.put(time.Now(), func() { c.after(boot) }) })
}

// transition records that a component starts or ends, like a simulation.
func (c *Cluster) transition(node string, part trace.Part, who string, verb trace.Verb) {
	c.world.Trace.Add(trace.Transition{Part: part, Name: who, Verb: verb}.Entry(node))
}

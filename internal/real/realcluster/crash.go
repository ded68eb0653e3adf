package realcluster

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// carryOut kills or starts whom a proxy cannot reach: the victim of a fault at a call, which waits for its death.
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
		if r.M == proxy.Start { // of a proxy that is not on the node
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

// outage is for how long a fault takes the power of a node; 0 if it does not come back. The proxy that has met the fault is on the
// node as a rule, and cannot order the end of it.
func (c *Cluster) outage(node string) time.Duration {
	for _, f := range c.faults {
		if f.Effect == fault.Kill && f.Victim == fault.Node && (f.Node == "" || f.Node == node) {
			return f.RestartAfter
		}
	}
	return 0
}

// powerOnAfter boots a node after some time, unless that has happened.
func (c *Cluster) powerOnAfter(node string, d time.Duration) {
	if d == 0 {
		return
	}
	boot := func() {
		if c.dark[node] {
			if err := c.PowerOn(node); err != nil {
				c.end(err)
			}
		}
	}
	time.AfterFunc(d, func() { c.queue.put(time.Now(), func() { c.after(boot) }) })
}

// transition records that a component starts or ends, as a simulation does.
func (c *Cluster) transition(node string, part trace.Part, who string, verb trace.Verb) {
	c.world.Trace.Add(trace.Transition{Part: part, Name: who, Verb: verb}.Entry(node))
}

// note says in the trace what was done to the cluster, as a simulation does: who looks for leftovers forgives what a crash has left.
func (c *Cluster) note(node, format string, args ...any) {
	c.world.Trace.Add(trace.Entry{Kind: trace.FaultFired, Node: node, Message: fmt.Sprintf(format, args...)})
}

package realcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/trace"
)

// A proxy that cuts the power of its own node for a fault ends with the node. The power still
// returns at the time in the fault.
func TestThePowerOfANodeReturnsAfterAFault(t *testing.T) {
	const off, on = "node-a: power off", "node-a: power on"
	c, machines := withPods(t)
	c.calls = newCallLog(c)
	c.faults = []*fault.Fault{
		{Call: "NodeStageVolume", Effect: fault.Kill, Victim: fault.Driver, RestartAfter: time.Hour},
		{Call: "NodePublishVolume", Effect: fault.Kill, Victim: fault.Node, RestartAfter: 50 * time.Millisecond},
	}
	died := proxy.Record{Line: trace.Line{K: proxy.Order, M: proxy.Kill, Msg: string(fault.Node), Node: "node-a"}}
	require.NoError(t, c.calls.obey(died))
	assert.True(t, c.dark["node-a"])
	require.NoError(t, c.WaitFor("the power", 10*time.Second, func() bool { return len(machines.ran) == 2 }))
	assert.Equal(t, []string{off, on}, machines.ran)
	assert.False(t, c.dark["node-a"])

	require.NoError(t, c.calls.obey(died))
	require.NoError(t, c.PowerOn("node-a"), "a step is faster")
	c.faults = nil
	require.NoError(t, c.calls.obey(died))
	require.NoError(t, c.Advance(200*time.Millisecond))
	assert.True(t, c.dark["node-a"], "no fault says when this outage ends")
	assert.Equal(t, []string{off, on, off, on, off}, machines.ran)
}

// The calls in progress on a node end with the node's power. The cluster settles without their
// answers. An answer that was recorded but is read later changes nothing.
func TestCallsUnderWayEndWithTheNodesPower(t *testing.T) {
	c, _ := withPods(t)
	c.calls = newCallLog(c)
	call := func(node string, seq uint64, open bool) proxy.Record {
		return proxy.Record{Line: trace.Line{K: trace.Call, M: "Node/NodePublishVolume", Node: node, Seq: seq}, At: time.Now().UnixNano(), Open: open}
	}
	for _, under := range []proxy.Record{call("node-a", 1, true), call("node-a", 2, true), call("node-b", 3, true)} {
		c.calls.take(under, place{})
	}
	require.NoError(t, c.PowerOff("node-a"))
	c.calls.take(call("node-a", 1, false), place{})
	var seen []string
	for _, e := range c.world.Trace.Events() {
		if e.Kind == trace.Call {
			seen = append(seen, e.Node+" "+e.Code+" "+e.Message)
		}
	}
	assert.Equal(t, []string{"node-a Canceled the caller has exited", "node-a Canceled the caller has exited", "node-b  "}, seen)
	assert.Len(t, c.calls.open, 1)
}

package sim

import (
	"slices"
	"time"

	"github.com/csisim/csisim/sim/expect"
)

// T is what a cluster needs of a test: *testing.T, *testing.B and the GinkgoT() of
// ginkgo have it.
type T interface {
	Helper()
	Name() string
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Cleanup(func())
}

// Cluster is a cluster in a test. What it cannot do fails the test, with what led
// there; what has no method here is done by the Simulation or by a client.
type Cluster struct {
	*Simulation

	t        T
	evidence *expect.Evidence
	allowed  struct{ leftovers, violations expect.Allowed }
	record   *record
	life     *life // nil unless it lives by the real clock
}

// New makes a cluster for a test and runs it until all nodes are Ready and all
// drivers registered. When the test ends the cluster comes to rest and is closed,
// and the test fails if anything was left behind, if a driver broke the CSI spec,
// or if a pod lost its data. Tests with clusters of their own can run in parallel.
func New(t T, opts ...Option) *Cluster {
	t.Helper()
	var o Options
	for _, option := range opts {
		option(&o)
	}
	c := &Cluster{t: t, record: newRecord()}
	o.Sinks = append(slices.Clip(o.Sinks), c.record.sinks()...)
	simulation, err := Start(o)
	c.must(err, "start the cluster")
	c.Simulation = simulation
	t.Cleanup(c.end)
	c.evidence = c.Evidence()
	if !o.NoBoot {
		c.must(c.Boot(), "bring up the nodes and drivers")
	}
	c.FromHere()
	return c
}

// settleLimit is the virtual time that is given to what is still going on.
const settleLimit = 10 * time.Minute

// end closes the cluster of a test, and fails the test for what nobody asked about.
func (c *Cluster) end() {
	c.t.Helper()
	c.stopLiving()
	kept := []expect.Expectation{expect.Violations(c.allowed.violations), expect.Mounts{}, expect.Data{}}
	if !c.t.Failed() {
		_ = c.Simulation.Settle(settleLimit) // what never ends shows in what it leaves behind
		c.ReadData()
		kept = append(kept, expect.Leftovers(c.allowed.leftovers))
	}
	c.report(c.evidence.From(0), kept...)
	if err := c.Close(); err != nil {
		c.t.Errorf("close the cluster: %v", err)
	}
	c.record.end(c.t)
}

// must ends the test for an error.
func (c *Cluster) must(err error, doing string) {
	c.t.Helper()
	if err != nil {
		c.t.Errorf("%s: %v", doing, err)
		c.t.FailNow()
	}
}

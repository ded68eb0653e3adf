package sim

import (
	"slices"
	"time"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

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
// there; what has no method here is done by its Simulation or by a client.
type Cluster struct {
	t          T
	simulation *Simulation
	evidence   *expect.Evidence
	allowed    struct{ leftovers, violations expect.Allowed }
	record     *record
	life       *life // nil unless it lives by the real clock
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
	o.Sinks = append(slices.Clip(o.Sinks), c.record.sinks...)
	simulation, err := Start(o)
	c.must(err, "start the cluster")
	c.simulation = simulation
	t.Cleanup(c.end)
	c.evidence = c.simulation.Evidence()
	if !o.NoBoot {
		c.must(c.simulation.Boot(), "bring up the nodes and drivers")
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
	kept := []expect.Expectation{expect.Alive(c.allowed.violations), expect.Violations(c.allowed.violations), expect.Mounts{}, expect.Data{}}
	if !c.t.Failed() {
		_ = c.simulation.Settle(settleLimit) // what never ends shows in what it leaves behind
		c.simulation.ReadData()
		kept = append(kept, expect.Leftovers(c.allowed.leftovers))
	}
	c.report(c.evidence.From(0), kept...)
	if err := c.simulation.Close(); err != nil {
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

// Simulation is what the cluster is run by, for what has no method here: looks at mount
// tables, endpoints, metrics.
func (c *Cluster) Simulation() *Simulation { return c.simulation }

// Nodes are the names of all nodes.
func (c *Cluster) Nodes() []string { return c.simulation.Nodes() }

// Client is a clientset of client-go for the cluster's API server.
func (c *Cluster) Client() kubernetes.Interface { return c.simulation.Client() }

// DynamicClient is a dynamic client of client-go.
func (c *Cluster) DynamicClient() dynamic.Interface { return c.simulation.DynamicClient() }

// SnapshotClient is a clientset for snapshots and group snapshots.
func (c *Cluster) SnapshotClient() snapshots.Interface { return c.simulation.SnapshotClient() }

// RESTConfig is for clients of one's own: controller-runtime, an operator under test.
func (c *Cluster) RESTConfig() *rest.Config { return c.simulation.RESTConfig() }

package sim

import (
	"slices"
	"time"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// T is the part of a test that a cluster needs: *testing.T, *testing.B and the GinkgoT() of ginkgo
// have it.
type T interface {
	Helper()
	Name() string
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	FailNow()
	Cleanup(func())
}

// Cluster is a cluster in a test. An operation that fails also fails the test, which prints the
// preceding events. For operations without a method here, use its Simulation or a client.
type Cluster struct {
	t          T
	world      World
	simulation *Simulation // nil on a real cluster
	evidence   *expect.Evidence
	allowed    struct{ leftovers, violations expect.Allowed }
	record     *record
	life       *life // nil unless it runs by the real clock
	always     []*always
}

// New creates a cluster for a test and runs it until all nodes are Ready and all drivers
// registered. At the end of the test, a cleanup of New settles the cluster and closes it. It fails
// the test if anything was left behind, if a driver broke the CSI spec, or if a pod lost its data.
// Tests with clusters of their own can run in parallel.
//
// With the flag -csisim.on of go test, New uses a real cluster: see package sim/kind.
func New(t T, opts ...Option) *Cluster {
	t.Helper()
	o := optionsOf(opts)
	c := &Cluster{t: t, record: newRecord(o)}
	o.Sinks = append(slices.Clip(o.Sinks), c.record.sinks...)
	c.must(c.open(o), "start the cluster")
	t.Cleanup(func() { t.Helper(); end(c) })
	c.begin(o)
	return c
}

// NewPair creates two clusters for a test, each like New. Both share one virtual time: a call that
// advances it in one cluster advances it in the other. Both have the same options, but separate
// APIs, nodes and controllers. StartPair describes the state that their drivers share.
func NewPair(t T, names [2]string, opts ...Option) (first, second *Cluster) {
	t.Helper()
	if isPromoted() {
		skip(t, &NotPromotedError{"a pair of clusters", "a run on a real cluster has one"})
	}
	o := optionsOf(opts)
	record := newRecord(o)
	first, second = &Cluster{t: t, record: record}, &Cluster{t: t, record: record}
	o.Sinks = append(slices.Clip(o.Sinks), record.sinks...)
	pair, err := StartPair(o, names)
	first.must(err, "start the clusters")
	first.simulation, first.world, second.simulation, second.world = pair[0], pair[0], pair[1], pair[1]
	t.Cleanup(func() { t.Helper(); end(first, second) })
	first.begin(o)
	second.begin(o)
	return first, second
}

func optionsOf(opts []Option) (o Options) {
	for _, option := range opts {
		option(&o)
	}
	return o
}

// begin starts the cluster.
func (c *Cluster) begin(o Options) {
	c.t.Helper()
	c.evidence = c.world.Evidence()
	if !o.NoBoot {
		c.must(c.world.Boot(), "bring up the nodes and drivers")
	}
	c.FromHere()
}

// settleLimit is the virtual time that unfinished work may take.
const settleLimit = 10 * time.Minute

// end closes the clusters of a test, and fails the test for problems that the test has not queried.
func end(clusters ...*Cluster) {
	t := clusters[0].t
	t.Helper()
	for _, c := range clusters {
		if c.evidence != nil { // it has begun
			c.stopLiving()
			c.judge()
		}
	}
	for _, c := range clusters {
		if err := c.world.Close(); err != nil {
			t.Errorf("close the cluster: %v", err)
		}
	}
	clusters[0].record.end(t)
}

// judge waits until the cluster settles, and reports problems.
func (c *Cluster) judge() {
	c.t.Helper()
	kept := []expect.Expectation{expect.Alive(c.allowed.violations), expect.Violations(c.allowed.violations), expect.Mounts{}, expect.Data{}}
	if !c.t.Failed() {
		// The leftovers show any work that never ends.
		_ = c.world.Settle(settleLimit)
		if c.simulation != nil { // the test created the containers of a real cluster
			c.simulation.ReadData()
		}
		kept = append(kept, expect.Leftovers(c.allowed.leftovers))
	}
	for _, a := range c.always {
		kept = append(kept, a)
	}
	c.report(c.evidence.From(0), kept...)
}

// must ends the test if there is an error.
func (c *Cluster) must(err error, doing string) {
	c.t.Helper()
	if err != nil {
		skipIf(c.t, err)
		c.record.failures = append(c.record.failures, &expect.Failure{Verdict: verdict.Plain(doing + ": " + err.Error())})
		c.t.Errorf("%s: %v", doing, err)
		c.t.FailNow()
	}
}

// Simulation returns the simulation of the cluster, for operations without a method here: it shows
// mount tables, endpoints and metrics. On a real cluster, it skips the test.
func (c *Cluster) Simulation() *Simulation {
	c.t.Helper()
	c.onlySimulated("Simulation()", "only a simulated cluster can do this")
	return c.simulation
}

// Nodes returns the names of all nodes.
func (c *Cluster) Nodes() []string { return c.world.Nodes() }

// Client returns a clientset of client-go for the cluster's API server.
func (c *Cluster) Client() kubernetes.Interface { return kubernetes.NewForConfigOrDie(c.RESTConfig()) }

// DynamicClient returns a dynamic client of client-go.
func (c *Cluster) DynamicClient() dynamic.Interface { return dynamic.NewForConfigOrDie(c.RESTConfig()) }

// SnapshotClient returns a clientset for snapshots and group snapshots.
func (c *Cluster) SnapshotClient() snapshots.Interface {
	return snapshots.NewForConfigOrDie(c.RESTConfig())
}

// RESTConfig returns the configuration for other clients: controller-runtime, an operator under
// test.
func (c *Cluster) RESTConfig() *rest.Config { return c.world.RESTConfig() }

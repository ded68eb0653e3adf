package sim

import (
	"time"

	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// World runs the Cluster of a test: a Simulation, or a real cluster from a package such as
// sim/kind.
type World interface {
	// Boot waits until all nodes are Ready and all drivers registered on them.
	Boot() error
	// Close removes all objects that the test has created.
	Close() error
	// Nodes returns the names of the nodes.
	Nodes() []string
	// RESTConfig returns the configuration of clients of any kind.
	RESTConfig() *rest.Config

	// Evidence returns the evidence for checking expectations. Exclusively runs a function that
	// reads it.
	Evidence() *expect.Evidence
	Exclusively(look func())
	// Say records the test's next action in the trace. Last is the Seq of the last event there.
	Say(what string)
	Last() uint64

	// Apply creates an object or changes it, as kubectl apply does; Delete requests its deletion.
	Apply(store.Object) (verb string, err error)
	Delete(*store.Resource, store.Key, ...store.DeleteOption) error

	Kill(Component) error
	Stop(Component) error
	Start(Component) error
	PowerOff(node string) error
	PowerOn(node string) error
	// Inject activates a fault until EndFault.
	Inject(*fault.Fault) error
	EndFault(*fault.Fault) error

	// WaitFor waits until cond holds, Settle until only housekeeping is left, and Advance until d
	// has passed.
	WaitFor(what string, limit time.Duration, cond func() bool) error
	Settle(limit time.Duration) error
	Advance(d time.Duration) error
}

var _ World = &Simulation{}

// Say notes an action in the trace.
func (c *Simulation) Say(what string) { c.World.Say(what) }

// Last returns the Seq of the last event of the cluster.
func (c *Simulation) Last() uint64 { return c.World.Trace.Last() }

// Inject activates a fault at the calls of drivers.
func (c *Simulation) Inject(f *fault.Fault) error {
	c.Wire.Faults.Inject(f)
	return nil
}

// EndFault ends a fault, and releases the calls that it holds.
func (c *Simulation) EndFault(f *fault.Fault) error {
	c.Wire.Faults.End(f)
	return nil
}

package sim

import (
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
)

// Option is one wish about a cluster. Fields without a function here are set by a function of the
// test's own: func(o *sim.Options) { o.Guard = true }.
type Option func(*Options)

// WithNodes adds nodes by their names. Default: node-a and node-b.
func WithNodes(names ...string) Option {
	return func(o *Options) {
		for _, name := range names {
			o.Nodes = append(o.Nodes, Node{Name: name})
		}
	}
}

// WithNode adds a node with all that is to be known of it.
func WithNode(n Node) Option { return func(o *Options) { o.Nodes = append(o.Nodes, n) } }

// WithServers adds a driver with servers in Go code of this process; see Services.
func WithServers(name string, servers Servers) Option {
	return WithDriver(Driver{Name: name, Servers: &servers})
}

// WithProgram adds a driver that is a program: it is started for each node and for the controller,
// over real sockets. Its name is the one that GetPluginInfo returns. The words of the command are
// templates; see Program.
func WithProgram(command ...string) Option {
	return WithDriver(Driver{Program: &Program{Command: command}})
}

// WithEndpoint adds a driver that runs already, to a cluster of one node: its
// controller plugin and its node plugin, by the paths of their unix sockets.
func WithEndpoint(controller, node string) Option {
	return WithDriver(Driver{Socket: &Socket{Controller: controller, Node: node}})
}

// WithMock adds the reference driver in memory.
func WithMock(options mock.Options) Option { return WithDriver(Driver{Mock: &options}) }

// WithDriver adds a driver with all that is to be known of it.
func WithDriver(d Driver) Option { return func(o *Options) { o.Drivers = append(o.Drivers, d) } }

// WithFaults puts faults in force before anything is called.
func WithFaults(faults ...fault.Fault) Option {
	return func(o *Options) {
		for i := range faults {
			o.Faults = append(o.Faults, &faults[i])
		}
	}
}

// WithStrategy takes the decisions of the run: the next process, delays, stale views. Default:
// Calm{}, which takes the fair order without surprises.
func WithStrategy(s Strategy) Option { return func(o *Options) { o.Strategy = s } }

// WithSeed takes the decisions of the run by chance. The same seed makes the same run.
func WithSeed(seed uint64) Option { return WithStrategy(NewRandom(seed)) }

// WithPatience is how long, in wall time, a driver may think before the cluster goes
// on without its answer. Default: 2 s.
func WithPatience(d time.Duration) Option { return func(o *Options) { o.Patience = d } }

// WithoutBoot leaves the cluster at its first instant, for tests of the time in which nodes and
// drivers come up. Default: New returns when they are up.
func WithoutBoot() Option { return func(o *Options) { o.NoBoot = true } }

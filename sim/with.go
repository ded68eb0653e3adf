package sim

import (
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
)

// Option changes the Options of a cluster. To set a field without a function here, write one:
// func(o *sim.Options) { o.Guard = true }.
type Option func(*Options)

// WithNodes adds nodes by their names. Default: node-a and node-b.
func WithNodes(names ...string) Option {
	return func(o *Options) {
		for _, name := range names {
			o.Nodes = append(o.Nodes, Node{Name: name})
		}
	}
}

// WithNode adds a node.
func WithNode(n Node) Option { return func(o *Options) { o.Nodes = append(o.Nodes, n) } }

// WithServers adds a driver with servers in Go code of this process; see Services.
func WithServers(name string, servers Servers) Option {
	return WithDriver(Driver{Name: name, Servers: &servers})
}

// WithProgram adds a driver program. csisim starts it for each node and for the controller, and
// calls it over real sockets. Its name is the name that GetPluginInfo returns. The words of the
// command are templates; see Program.
func WithProgram(command ...string) Option {
	return WithDriver(Driver{Program: &Program{Command: command}})
}

// WithVersions is WithProgram for a driver with other releases, by the name of the release: see
// Cluster.Upgrade.
func WithVersions(releases map[string]ProgramVersion, command ...string) Option {
	return WithDriver(Driver{Program: &Program{Command: command, Versions: releases}})
}

// WithEndpoint adds a running driver to a cluster of one node. The arguments are the paths of the
// unix sockets of its controller plugin and its node plugin.
func WithEndpoint(controller, node string) Option {
	return WithDriver(Driver{Socket: &Socket{Controller: controller, Node: node}})
}

// WithMock adds the reference driver in memory.
func WithMock(options mock.Options) Option { return WithDriver(Driver{Mock: &options}) }

// WithDriver adds a driver.
func WithDriver(d Driver) Option { return func(o *Options) { o.Drivers = append(o.Drivers, d) } }

// WithFaults activates faults before the first call.
func WithFaults(faults ...fault.Fault) Option {
	return func(o *Options) {
		for i := range faults {
			o.Faults = append(o.Faults, &faults[i])
		}
	}
}

// WithStrategy sets the strategy that takes the decisions of the run: the next process, delays,
// stale views. Default: Calm{}, which takes the fair order without faults.
func WithStrategy(s Strategy) Option { return func(o *Options) { o.Strategy = s } }

// WithSeed takes the decisions of the run at random. The same seed gives the same run.
func WithSeed(seed uint64) Option { return WithStrategy(NewRandom(seed)) }

// WithPatience sets the wall time for which the cluster waits for a driver's answer before it
// continues without the answer. Default: 2 s.
func WithPatience(d time.Duration) Option { return func(o *Options) { o.Patience = d } }

// WithoutBoot leaves the cluster at its first instant, for tests of the start of nodes and drivers.
// Default: New returns when they are up.
func WithoutBoot() Option { return func(o *Options) { o.NoBoot = true } }

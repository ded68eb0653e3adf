package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// driver is one installed CSI driver: its controller plugin and its node plugins.
type driver struct {
	Driver
	cluster    string           // empty for the only one of a run
	storage    *cluster.Storage // of a Mock that is in several clusters
	mock       *mock.Driver     // of a Mock driver: the backend
	releases   map[string]*mock.Driver
	now        func() time.Time
	deployment cluster.Deployment
	elections  map[string]*sidecar.Election // by program
	controller *plugin                      // nil if the driver has none
	replicas   []*plugin                    // of the controller plugin, but the first
	promised   map[string]bool
	nodes      map[string]*plugin
	further    []*plugin
	standIns   []standin.StandIn // that run
	before     ledger.Holdings   // its contents when the run began
	listed     map[string]bool   // all volumes and snapshots in its lists so far
	// Below plugins, and of its state: its name, unless that is not known yet.
	directory string
}

// plugin is one instance of a driver: the controller's, or that of a node.
type plugin struct {
	driver *driver
	node   string // empty for the controller
	// Of a controller plugin that has several, from 1; 0 for the only one.
	replica   int
	name      string            // of a further plugin of the node; empty for the driver's own
	id        string            // the CSI node id of a further plugin that has its own
	zone      string            // of the node, in the driver's topology
	segments  map[string]string // of the mock driver, where they are not its zone any more
	machine   machine.Machine
	socket    string // as the machine sees it
	addons    string // where it serves CSI-Addons; mostly the same
	backend   backend
	version   string // the release that it runs; empty for the one that was installed first
	next      string // the release of its next pod; empty for the same
	renewed   bool   // its pod is new, and the sidecars are those of the pod before
	running   bool
	comesBack bool                 // when its node has power again
	refused   registrar.Refused    // reaction of its registrar if the kubelet refuses the driver
	registry  string               // directory below plugins_registry; empty for that itself
	registrar *registrar.Registrar // nil for the controller, or if it is external
	interrupt context.Context      // ends waits for it in wall time
	orders    int                  // how often it was started or ended on request
	loop      crashLoop
	elapsed   func() time.Duration  // virtual time since the run began
	began     time.Duration         // when it was started last
	beside    []*cluster.Controller // its sidecars, except its registrar
	prober    *kernel.Group         // the kubelet's livenessProbe; nil for none
	line      *line                 // nil before the first request
}

// backend starts and ends one instance of a driver.
type backend interface {
	start() error
	// kill ends it like SIGKILL: the socket file stays.
	kill() error
	// stop ends it like SIGTERM: it removes its socket.
	stop() error
	// lostPower ends it when its node loses power, with all mounts.
	lostPower()
}

// startDrivers starts the plugins and registrars of all drivers that are installed at the start.
func (c *Simulation) startDrivers() error {
	for _, o := range c.options.Drivers {
		d := &driver{Driver: o, cluster: c.cluster, nodes: map[string]*plugin{}, elections: map[string]*sidecar.Election{}}
		d.deployment = cluster.Deployment{World: c.World, Objects: c.objects, Version: d.first()}
		c.drivers = append(c.drivers, d)
		if d.Mock != nil {
			d.setUpMock(c.World.Kernel.Now)
			c.joinSites(d)
		}
		if d.Later {
			d.before, _ = d.holds()
			continue
		}
		if err := c.startDriver(d); err != nil {
			return err
		}
	}
	for _, n := range c.nodes.All {
		c.checks.Watch.See(n.Machine, nil)
	}
	for _, m := range c.controlPlanes {
		c.checks.Watch.See(m, nil)
	}
	return nil
}

// startDriver starts a driver's plugins and their registrars, and makes its CSIDriver
// object.
func (c *Simulation) startDriver(d *driver) error {
	// Stand-ins outlive the programs that they serve.
	if len(d.standIns) == 0 {
		if err := c.startStandIns(d); err != nil {
			return err
		}
	}
	d.directory = cmp.Or(d.Name, "unnamed")
	if d.controllerPlugins() > 0 {
		p, err := c.newPlugin(d, Node{}, c.controlPlanes[0], 0)
		if err != nil {
			return err
		}
		d.controller = p
		if err := c.startReplicas(d); err != nil {
			return err
		}
	}
	for i, n := range c.nodes.All {
		if d.NoNode || !d.runsOn(n.Name) {
			continue
		}
		p, err := c.newPlugin(d, c.options.Nodes[i], n.Machine, 0)
		if err != nil {
			return err
		}
		d.nodes[n.Name] = p
		if !d.external(Registrar) {
			p.registrar = c.registrarOf(p)
		}
		if p.running && p.registrar != nil {
			p.registrar.Start()
		}
		if d.isSingle() {
			d.controller = p
		}
	}
	if err := c.addFurther(d); err != nil {
		return err
	}
	var err error
	if d.promised, err = d.promises(); err != nil {
		return err
	}
	if !d.Later {
		d.before, _ = d.holds() // a driver that does not know has to say later
	}
	return c.installCSIDriver(d)
}

// runsOn reports whether the driver has a plugin on the node.
func (d *driver) runsOn(node string) bool {
	return d.Socket == nil || d.Socket.Node != "" || d.Socket.Nodes[node] != ""
}

// nodeID is the CSI node id that the driver is given on a node.
func (d *driver) nodeID(node string) string {
	if id := d.NodeIDs[node]; id != "" {
		return id
	}
	return node
}

// newPlugin creates and starts one instance. Its socket is at the path that drivers and kubelets
// expect on a node.
func (c *Simulation) newPlugin(d *driver, node Node, m machine.Machine, replica int) (*plugin, error) {
	p := &plugin{driver: d, node: node.Name, replica: replica, zone: d.zone(node), machine: m, interrupt: c.options.Context, elapsed: c.World.Kernel.Elapsed}
	p.socket, p.addons = d.socketIn(m, d.directory), d.addonsSocketIn(m, d.directory)
	if err := c.giveBackend(p); err != nil {
		return nil, err
	}
	if slices.Contains(d.Down, node.Name) {
		return p, nil
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	if d.Socket != nil || d.Name == "" {
		return p, p.learnName()
	}
	return p, nil
}

// socketIn is the socket of a plugin in its directory.
func (d *driver) socketIn(m machine.Machine, directory string) string {
	name := "csi.sock"
	if d.Program != nil && d.Program.PluginSocket != "" {
		name = path.Base(d.Program.PluginSocket)
	}
	return path.Join(m.Layout().KubeletDir(), "plugins", directory, name)
}

func (c *Simulation) giveBackend(p *plugin) (err error) {
	switch {
	case p.driver.Program != nil:
		p.backend, err = c.newProgram(p)
	case p.driver.Socket != nil:
		p.backend, err = newSocketBackend(p)
	default:
		p.backend = &serving{plugin: p}
	}
	return err
}

func (p *plugin) start() error {
	p.orders++
	if p.running {
		return nil
	}
	if err := p.backend.start(); err != nil {
		return err
	}
	p.running = true
	p.began = p.elapsed()
	return nil
}

func (p *plugin) kill() error {
	p.orders++
	p.hangUp()
	if !p.running {
		return nil
	}
	p.running = false
	return p.backend.kill()
}

func (p *plugin) stop() error {
	p.orders++
	p.hangUp()
	if !p.running {
		return nil
	}
	p.running = false
	return p.backend.stop()
}

// String names the instance in messages.
func (p *plugin) String() string {
	if p.driver.cluster != "" {
		return p.inCluster() + " in " + p.driver.cluster
	}
	return p.inCluster()
}

func (p *plugin) inCluster() string {
	// The name is unknown before the first request.
	driver := strings.TrimSpace("driver " + p.driver.Name)
	switch {
	case p.node == "" && p.replica > 0:
		return fmt.Sprintf("%s, controller %d", driver, p.replica)
	case p.node == "":
		return driver + ", controller"
	case p.name != "":
		return fmt.Sprintf("%s on %s, plugin %s", driver, p.node, p.name)
	}
	return driver + " on " + p.node
}

// plugins lists all instances of a driver, the controller's first, then by node in the cluster's
// order; none without a driver.
func (c *Simulation) plugins(d *driver) []*plugin {
	var all []*plugin
	if d == nil {
		return nil
	}
	if d.controller != nil && d.controller.node == "" {
		all = append(append(all, d.controller), d.replicas...)
	}
	for _, n := range c.nodes.All {
		if p := d.nodes[n.Name]; p != nil {
			all = append(all, p)
		}
	}
	return append(all, d.further...)
}

// driver returns the driver of a name; nil for none.
func (c *Simulation) driver(name string) *driver {
	i := slices.IndexFunc(c.drivers, func(d *driver) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return c.drivers[i]
}

func (c *Simulation) driverNamed(name string) (*driver, error) {
	if d := c.driver(name); d != nil {
		return d, nil
	}
	return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: fmt.Sprintf("there is no such driver; there are %v", c.Drivers())}
}

// DriverNodes are the names of the nodes on which a driver has a plugin.
func (c *Simulation) DriverNodes(name string) []string {
	var nodes []string
	for _, p := range c.plugins(c.driver(name)) {
		if p.node != "" && p.name == "" {
			nodes = append(nodes, p.node)
		}
	}
	return nodes
}

// plugin finds a driver's plugin on a node, or its controller plugin. The name may be
// "driver/plugin" for a further plugin of the node, "driver/2" for a replica.
func (c *Simulation) plugin(name, node string) (*plugin, error) {
	name, further, _ := strings.Cut(name, "/")
	d, err := c.driverNamed(name)
	if err != nil {
		return nil, err
	}
	p := d.nodes[node]
	switch {
	case further != "" && node == "":
		p = d.replica(further)
	case further != "":
		p = d.furtherPlugin(further, node)
	case node == "":
		p = d.controller
	}
	if p == nil {
		return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: fmt.Sprintf("it has no plugin on %q", node)}
	}
	return p, nil
}

// servesAt reports whether calls of a site are to the plugin.
func (p *plugin) servesAt(at wire.Site) bool {
	return p.machine == at.Machine && (p.socket == at.Socket || p.addons == at.Socket)
}

// values are the plugins in the order of their nodes' names.
func values(plugins map[string]*plugin) []*plugin {
	var all []*plugin
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		all = append(all, plugins[name])
	}
	return all
}

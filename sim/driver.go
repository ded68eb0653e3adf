package sim

import (
	"cmp"
	"path"
	"slices"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/program"
)

// startDrivers starts the plugins and registrars of all drivers that are installed at the start.
func (c *Simulation) startDrivers() error {
	for _, o := range c.options.Drivers {
		d := c.newDriver(o)
		for _, other := range c.run.clusters {
			if other != c {
				other.drivers.JoinSites(d)
			}
		}
		if err := c.drivers.Add(d); err != nil {
			return err
		}
	}
	c.drivers.SeeMachines()
	return nil
}

// newDriver returns a driver for some options. It is not installed yet.
func (c *Simulation) newDriver(o Driver) *cluster.Driver {
	d := &cluster.Driver{
		Name: o.Name, Cluster: c.cluster, IsProgram: o.Program != nil, IsExisting: o.Socket != nil, IsSingle: o.isSingle(), Later: o.Later,
		ControllerPlugins: o.controllerPlugins(), RunsOn: o.runsOn, Down: o.Down, NodeIDs: o.NodeIDs, CSIDriver: o.CSIDriver, NoCSIDriver: o.NoCSIDriver || c.options.knew(o.Name), StandIns: o.StandIns,
		Sidecars: o.Sidecars, External: words(o.External), Without: words(o.Without), Version: o.Version, Versions: o.versions(), Releases: map[string]cluster.Release{},
	}
	d.Socket, d.AddonsSocket = o.sockets()
	for _, f := range o.Further {
		d.Further = append(d.Further, cluster.Further(f))
	}
	for _, s := range o.Addons {
		d.Addons = append(d.Addons, s.inCluster())
	}
	for version, r := range o.Deployments {
		d.Releases[version] = cluster.Release{Objects: r.Objects, Sidecars: r.Sidecars, Without: words(r.Without)}
	}
	switch {
	case o.Mock != nil:
		d.SetUpMock(*o.Mock, o.MockVersions, c.World.Kernel.Now, c.options.zones)
	case o.Program != nil:
		d.Words, d.StartTimeout = append(slices.Clone(o.Program.Command), o.Program.ControllerCommand...), o.Program.StartTimeout
		d.Backend = func(p *cluster.Plugin) (cluster.Backend, error) { return c.newProgram(p, o.Program), nil }
	case o.Socket != nil:
		d.Backend = o.Socket.backend
	default:
		d.Backend = o.Servers.backend
	}
	return d
}

// words returns the names of sidecars.
func words(sidecars []Sidecar) (names []string) {
	for _, s := range sidecars {
		names = append(names, string(s))
	}
	return names
}

// runsOn reports whether the driver has a plugin on the node.
func (d Driver) runsOn(node string) bool {
	return !d.NoNode && (d.Socket == nil || d.Socket.Node != "" || d.Socket.Nodes[node] != "")
}

// zones returns the zones of nodes for a mock driver: the node's label with the driver's topology
// key, otherwise the node's well-known zone.
func (o Options) zones(topologyKey string) map[string]string {
	zones := map[string]string{}
	for _, n := range o.Nodes {
		zones[n.Name] = cmp.Or(n.Labels[topologyKey], n.Zone)
	}
	return zones
}

// addonsSocketName is the default name of a socket that serves only CSI-Addons.
const addonsSocketName = "csi-addons.sock"

// sockets returns the names of a plugin's socket and of its socket for CSI-Addons, in the plugin's
// directory. Most plugins serve both at one socket.
func (d Driver) sockets() (own, addons string) {
	own = "csi.sock"
	if d.Program != nil && d.Program.PluginSocket != "" {
		own = path.Base(d.Program.PluginSocket)
	}
	switch {
	case d.Socket != nil && d.Socket.Addons != "":
		return own, addonsSocketName
	case d.Program != nil && d.Program.AddonsSocket != "":
		return own, path.Base(d.Program.AddonsSocket)
	case d.Program != nil && program.Asks("Addons", d.Program.Env, d.Program.Command, d.Program.ControllerCommand):
		return own, addonsSocketName
	}
	return own, own
}

// Drivers returns the names of the drivers.
func (c *Simulation) Drivers() []string { return c.drivers.Names() }

// DriverNodes returns the names of the nodes on which a driver has a plugin.
func (c *Simulation) DriverNodes(name string) []string { return c.drivers.NodesOf(name) }

package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/store"
)

// Driver is one CSI driver of a cluster: its deployment, and the plugins that run.
type Driver struct {
	// Name is empty until the driver returns it.
	Name string
	// Cluster is empty for the only one of a run.
	Cluster string
	// Mock is the backend of a mock driver; nil for others.
	Mock *mock.Driver
	// IsProgram means that the run starts its plugins as programs. Words are the words of their
	// command lines.
	IsProgram bool
	Words     []string
	// IsExisting means that csisim does not start it.
	IsExisting bool
	// IsSingle means that one program is both the controller plugin and the plugin of a node.
	IsSingle bool
	// Addons are its sidecars of CSI-Addons.
	Addons []AddonsSidecar
	// Later omits the driver until it is installed.
	Later bool
	// ControllerPlugins is the number of controller plugins beside the plugins of nodes.
	ControllerPlugins int
	// RunsOn reports whether it has a plugin on a node.
	RunsOn func(node string) bool
	// Down are the nodes on which it is down at the start.
	Down    []string
	Further []Further
	// NodeIDs are the CSI node ids by node name. Default: the node's name.
	NodeIDs map[string]string
	// Socket and AddonsSocket are the names of the sockets in the directory of a plugin.
	Socket, AddonsSocket string
	// Directory is the name of its directory below plugins, and of the directory of its state: the
	// driver's name, if it is known.
	Directory string
	// StartTimeout bounds, in wall time, the requests outside the run. Default: 10 s.
	StartTimeout time.Duration
	// Backend makes the backend of a plugin.
	Backend func(*Plugin) (Backend, error)
	// CSIDriver is the spec of its CSIDriver object, unless NoCSIDriver leaves it out.
	CSIDriver   *storagev1.CSIDriverSpec
	NoCSIDriver bool
	// StandIns replace services outside Kubernetes.
	StandIns []standin.StandIn
	// Sidecars are the flags of its sidecars. External ones are programs outside csisim, and
	// Without lists those that do not exist.
	Sidecars          fakecontroller.Sidecars
	External, Without []string
	// Version is the release that is installed first, Versions are the others.
	Version  string
	Versions []string
	// Releases are the parts of its deployment that other releases change.
	Releases map[string]Release

	// Controller is nil if the driver has no controller plugin, or is not installed.
	Controller *Plugin
	// Nodes are the plugins of nodes.
	Nodes map[string]*Plugin

	deployment Deployment
	elections  map[string]*sidecar.Election // by program
	replicas   []*Plugin                    // further replicas of the controller plugin
	promised   map[string]bool
	further    []*Plugin
	standIns   []standin.StandIn // that run
	before     ledger.Holdings   // its contents when the run began
	listed     map[string]bool   // all volumes and snapshots in its lists so far
}

// Release holds the parts of a driver's deployment that a release changes.
type Release struct {
	Objects  []store.Object
	Sidecars *fakecontroller.Sidecars // nil for those of the driver
	Without  []string
}

// Further is an additional plugin of a driver on a node.
type Further struct {
	Name, Node, NodeID, Registry string
	Refused                      registrar.Refused
}

// FirstVersion is the name of the release that is installed first, unless the driver names it.
const FirstVersion = "program"

// NodeID returns the CSI node id that the driver gets on a node.
func (d *Driver) NodeID(node string) string {
	if id := d.NodeIDs[node]; id != "" {
		return id
	}
	return node
}

// furtherPlugin returns a further plugin on a node by its name; nil if there is none.
func (d *Driver) furtherPlugin(name, node string) *Plugin {
	i := slices.IndexFunc(d.further, func(p *Plugin) bool { return p.Name == name && p.Node == node })
	if i < 0 {
		return nil
	}
	return d.further[i]
}

// on returns a driver's plugins on a node, the driver's own plugin first.
func (d *Driver) on(node string) []*Plugin {
	var all []*Plugin
	if p := d.Nodes[node]; p != nil {
		all = append(all, p)
	}
	for _, p := range d.further {
		if p.Node == node {
			all = append(all, p)
		}
	}
	return all
}

// idsOf returns the ids by which the driver's plugins know a node.
func (d *Driver) idsOf(node string) []string {
	ids := []string{d.NodeID(node)}
	for _, p := range d.on(node) {
		ids = append(ids, p.NodeID())
	}
	return ids
}

// Controllers returns the controller plugins; none if the driver has no controller plugin.
func (d *Driver) Controllers() []*Plugin {
	if d.Controller == nil {
		return nil
	}
	return append([]*Plugin{d.Controller}, d.replicas...)
}

// replica returns a replica of the controller plugin by its number; nil if there is none.
func (d *Driver) replica(number string) *Plugin {
	for _, p := range d.Controllers() {
		if strconv.Itoa(max(1, p.Replica)) == number {
			return p
		}
	}
	return nil
}

// answering returns the replica of the controller plugin that can answer; the first if none runs.
func (d *Driver) answering() *Plugin {
	for _, p := range d.replicas {
		if !d.Controller.Running && p.Running {
			return p
		}
	}
	return d.Controller
}

// installed reports whether there are plugins of the driver.
func (d *Driver) installed() bool { return d.Controller != nil || len(d.Nodes) > 0 }

// first returns the name of the release that is installed first.
func (d *Driver) first() string { return cmp.Or(d.Version, FirstVersion) }

// hasVersion returns an error if the driver has no release with that name.
func (d *Driver) hasVersion(name string) error {
	switch {
	case d.IsExisting:
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "a driver on a socket has no versions: csisim does not start it"}
	case name != d.first() && !slices.Contains(d.Versions, name):
		return &ConfigError{Subject: fmt.Sprintf("version %q", name), Problem: fmt.Sprintf("driver %q has no such version", d.Name)}
	}
	return nil
}

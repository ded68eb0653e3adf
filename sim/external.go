package sim

import (
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/registrar"
)

// Sidecar is a program of Kubernetes that runs beside a driver, or once in a cluster
// for all drivers.
type Sidecar string

// The sidecars that may be external, instead of the built-in ones.
const (
	Provisioner Sidecar = fakecontroller.Provisioner
	Attacher    Sidecar = fakecontroller.Attacher
	Resizer     Sidecar = fakecontroller.Resizer
	Snapshotter Sidecar = fakecontroller.Snapshotter
	// HealthMonitor requests the condition of volumes from the driver.
	HealthMonitor Sidecar = fakecontroller.HealthMonitor
	// ClusterRegistrar creates the CSIDriver object, in clusters up to Kubernetes 1.21.
	ClusterRegistrar Sidecar = fakecontroller.ClusterRegistrar
	// Registrar is node-driver-registrar, on every node.
	Registrar Sidecar = registrar.Program
	// LivenessProbe reports to the kubelet whether a plugin is healthy.
	LivenessProbe Sidecar = livenessprobe.Name
	// SnapshotController runs once for all drivers.
	SnapshotController Sidecar = fakecontroller.SnapshotControllerName
	// AddonsProgram is the sidecar of CSI-Addons, beside all plugins.
	AddonsProgram Sidecar = fakecontroller.AddonsSidecar
	// AddonsManager is the controller manager of CSI-Addons, which runs once for all drivers.
	AddonsManager Sidecar = fakecontroller.AddonsManager
)

// Externals lists the names of all sidecars that may be external.
func Externals() []string {
	return append(fakecontroller.Names(), string(SnapshotController), string(AddonsProgram), string(AddonsManager))
}

// Endpoint is the address of a driver's plugin for a program outside the cluster.
type Endpoint struct {
	Driver string
	// Node is the name of the plugin's node; "control-plane" for the controller plugin.
	Node string
	// Socket is the path of the plugin's socket on the host.
	Socket string
	// Addons is the path of its separate socket for CSI-Addons, if it has one.
	Addons string `json:",omitempty"`
}

// Endpoints returns the endpoints of all drivers; none if the cluster is in memory.
func (c *Simulation) Endpoints() []Endpoint {
	var all []Endpoint
	if c.run.work == nil {
		return nil
	}
	for _, d := range c.drivers.All {
		for _, p := range c.drivers.Plugins(d) {
			at := Endpoint{Driver: d.Name, Node: p.Machine.Name(), Socket: p.Machine.Path(p.Socket)}
			if p.Addons != p.Socket {
				at.Addons = p.Machine.Path(p.Addons)
			}
			all = append(all, at)
		}
	}
	return all
}

// Directory is the directory of a node's kubelet, which contains plugins and plugins_registry. Path
// is for programs outside the cluster.
type Directory struct{ Node, Path string }

// Directories returns the directories of all nodes; none if the cluster is in memory.
func (c *Simulation) Directories() []Directory {
	var all []Directory
	if c.run.work == nil {
		return nil
	}
	for _, n := range c.nodes.All {
		all = append(all, Directory{Node: n.Name, Path: n.Machine.Path(n.Machine.Layout().KubeletDir())})
	}
	return all
}

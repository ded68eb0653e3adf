package sim

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/store"
)

// AddonsManagerOptions are the flags of the controller manager of CSI-Addons.
type AddonsManagerOptions = fakecontroller.AddonsManagerOptions

// AddonsSidecar is a sidecar of CSI-Addons beside one of a driver's plugins. Its name as a
// component is "csi-addons-sidecar/" and that of its pod.
type AddonsSidecar struct {
	// Pod is the pod in which the sidecar runs, "namespace/name". The scenario or the test creates
	// it: the sidecar starts when the pod has an address, and ends with the pod. Default: csisim
	// creates a pod for it.
	Pod string `json:"pod,omitempty" example:"kube-system/driver-controller-0" doc:"The pod that it runs in, with its namespace: it begins when the pod has an address; default one in kube-system that is made for it."`
	// Node is the node of the plugin that it runs beside. Default: the controller plugin.
	Node string `json:"node,omitempty" example:"node-a" doc:"The node of the plugin that it runs beside; default the controller plugin."`
	// NodeID is its flag --node-id. Default: Node, or the first node of the cluster.
	NodeID string `json:"nodeID,omitempty" doc:"--node-id; default the node, or the first one of the cluster."`
	// Port is its flag --controller-port. Default: 9070, or a free port of loopback if the
	// controller manager is external.
	Port int `json:"port,omitempty" doc:"--controller-port; default 9070, or a free port of loopback if the controller manager is external."`
	// EnableAuth requires TLS and a token from the controller manager. Default: true.
	EnableAuth *bool `json:"enableAuth,omitempty" doc:"--enable-auth: require TLS and a token from the controller manager, which is reviewed; default true. The manager needs the same value."`
	// Down leaves the sidecar stopped until Start. Default: false.
	Down bool `json:"down,omitempty" doc:"Leaves it out until a start-controller step; default false."`
	// VolumeCondition makes it report the conditions of volumes. Default: it does not.
	VolumeCondition *fakecontroller.AddonsVolumeCondition `json:"volumeCondition,omitempty" doc:"--enable-volume-condition: has it report the conditions of the volumes that are attached to its node; {} for the usual flags. Default: it does not."`
	fakecontroller.SidecarFlags
}

// addonsPort is the port of the project's own examples.
const addonsPort = 9070

// addAddons adds the sidecars of CSI-Addons beside a driver, and the controller manager with
// the first of them. A mock driver that serves CSI-Addons has one sidecar beside each plugin, in
// separate pods.
func (c *Simulation) addAddons(d *cluster.Driver) error {
	sidecars := c.options.Drivers[slices.Index(c.drivers.All, d)].Addons
	if len(sidecars) == 0 && d.Mock != nil && d.Mock.ServesAddons() {
		sidecars = c.addonsOf(d)
	}
	switch {
	case d.Lacks(string(AddonsProgram)) && d.HasAddons:
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "it has sidecars of CSI-Addons, which are external"}
	case d.Lacks(string(AddonsProgram)):
		sidecars = nil
	case len(sidecars) == 0:
		return nil
	}
	if err := c.DefineCSIAddons(); err != nil {
		return err
	}
	c.addAddonsManager()
	controllers := 0
	for _, s := range sidecars {
		p := d.Nodes[s.Node]
		if s.Node == "" {
			controllers++
			p = d.Controller
		}
		if p == nil {
			return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: fmt.Sprintf("there is no plugin for the sidecar in pod %s", s.Pod)}
		}
		if c.runsOutside(AddonsManager) && s.Port == 0 { // all of them have one address
			var err error
			if s.Port, err = freePort(); err != nil {
				return err
			}
		}
		if s.Pod == "" {
			s.Pod = ownPod(d.Name, s.Node)
			c.addonsPods.Make(c.World, s.Pod, c.addonsAddress())
		}
		o := c.addonsOptions(d, p, s)
		if s.Node == "" && controllers > 1 {
			o.Caller = fmt.Sprintf("%s-%d", fakecontroller.AddonsSidecar, controllers)
		}
		start := func(fakecontroller.Cluster) fakecontroller.Program { return c.addons.Sidecar(c.World, c.Wire, o) }
		c.drivers.AddBeside(p, fakecontroller.AddonsSidecar, fakecontroller.AddonsSidecar+"/"+o.Pod.Name, start).Down = s.Down
	}
	return nil
}

func (c *Simulation) addonsOptions(d *cluster.Driver, p *cluster.Plugin, s AddonsSidecar) fakecontroller.AddonsSidecarOptions {
	namespace, name, _ := strings.Cut(s.Pod, "/")
	nodeID := cmp.Or(s.NodeID, s.Node)
	if nodeID == "" && len(c.nodes.All) > 0 {
		nodeID = c.nodes.All[0].Name
	}
	return fakecontroller.AddonsSidecarOptions{
		Driver: d.Name, Machine: p.Machine, Socket: p.Addons, Node: p.Node, NodeID: nodeID,
		Pod: store.Key{Namespace: namespace, Name: name}, Port: cmp.Or(s.Port, addonsPort), Flags: s.SidecarFlags,
		VolumeCondition: s.VolumeCondition, EnableAuth: s.EnableAuth,
	}
}

func (c *Simulation) addAddonsManager() {
	if c.runsOutside(AddonsManager) {
		return
	}
	c.controllers.Add(c.addons.Manager(c.options.AddonsManager))
}

// addonsOf are sidecars beside every plugin of a driver.
func (c *Simulation) addonsOf(d *cluster.Driver) (all []AddonsSidecar) {
	if d.Controller != nil {
		all = append(all, AddonsSidecar{})
	}
	for _, n := range c.nodes.All {
		if d.Nodes[n.Name] != nil {
			all = append(all, AddonsSidecar{Node: n.Name})
		}
	}
	return all
}

// ownPod is the pod that csisim creates for a sidecar.
func ownPod(driver, node string) string {
	return metav1.NamespaceSystem + "/" + strings.ReplaceAll(driver, ".", "-") + "-" + cmp.Or(node, "controller") + "-0"
}

// addonsAddress is the address of pods of sidecars: "" for one each.
func (c *Simulation) addonsAddress() string {
	if c.runsOutside(AddonsManager) {
		return c.options.loopbackSeen()
	}
	return ""
}

// runsOutside reports whether a program is external for one of the drivers.
func (c *Simulation) runsOutside(s Sidecar) bool {
	return slices.ContainsFunc(c.options.Drivers, func(d Driver) bool { return slices.Contains(d.External, s) })
}

// reachAddons connects the programs of CSI-Addons with the external ones, in both directions.
func (c *Simulation) reachAddons() {
	if manager := c.runsOutside(AddonsManager); manager || c.runsOutside(AddonsProgram) {
		c.addons.Reach(cluster.AddonsOutside{
			Gate: c.run.gate, API: c.API, Store: c.World.Store, Manager: c.options.AddonsManager.In(), DialTo: c.options.dial,
		}, manager)
	}
}

// freePort returns a free port of loopback.
func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, &EnvironmentError{Doing: "find a port for a sidecar of CSI-Addons", Err: err}
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("leave port %d to a sidecar of CSI-Addons: %w", port, err)
	}
	return port, nil
}

package sim

import (
	"slices"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/cluster"
)

// AddonsManagerOptions are the flags of the controller manager of CSI-Addons.
type AddonsManagerOptions = fakecontroller.AddonsManagerOptions

// AddonsSidecar is a sidecar of CSI-Addons beside one of a driver's plugins. The name of the
// component is "csi-addons-sidecar/" followed by the name of its pod.
type AddonsSidecar struct {
	// Pod is the pod in which the sidecar runs, "namespace/name". The scenario or the test creates
	// it: the sidecar starts when the pod has an address, and ends with the pod. Default: csisim
	// creates a pod for it.
	Pod string `json:"pod,omitempty" example:"kube-system/driver-controller-0" doc:"The pod in which it runs, with its namespace. It starts when the pod has an address. Default a pod in kube-system that csisim creates."`
	// Node is the node of the plugin. Default: the controller plugin.
	Node string `json:"node,omitempty" example:"node-a" doc:"The node with the plugin beside which it runs; default the controller plugin."`
	// NodeID is its flag --node-id. Default: Node, or the first node of the cluster.
	NodeID string `json:"nodeID,omitempty" doc:"--node-id; default the node, or the first one of the cluster."`
	// Port is its flag --controller-port. Default: 9070, or a free port of loopback if the
	// controller manager is external.
	Port int `json:"port,omitempty" doc:"--controller-port; default 9070, or a free port of loopback if the controller manager is external."`
	// EnableAuth requires TLS and a token from the controller manager. Default: true.
	EnableAuth *bool `json:"enableAuth,omitempty" doc:"--enable-auth: requires TLS and a token of the controller manager, which it checks with a TokenReview; default true. The manager needs the same value."`
	// Down leaves the sidecar stopped until Start. Default: false.
	Down bool `json:"down,omitempty" doc:"It does not run before a start-controller step; default false."`
	// VolumeCondition makes it report the conditions of volumes. Default: it does not.
	VolumeCondition *fakecontroller.AddonsVolumeCondition `json:"volumeCondition,omitempty" doc:"--enable-volume-condition: it reports the conditions of the volumes that are attached to its node; {} for the usual flags. Default: it does not report them."`
	fakecontroller.SidecarFlags
}

// inCluster returns the sidecar as a part of the cluster.
func (s AddonsSidecar) inCluster() cluster.AddonsSidecar {
	return cluster.AddonsSidecar{Pod: s.Pod, Node: s.Node, Down: s.Down, Options: fakecontroller.AddonsSidecarOptions{
		NodeID: s.NodeID, Port: s.Port, Flags: s.SidecarFlags, VolumeCondition: s.VolumeCondition, EnableAuth: s.EnableAuth,
	}}
}

// isOutside reports whether a program is external for one of the drivers.
func (o Options) isOutside(s Sidecar) bool {
	return slices.ContainsFunc(o.Drivers, func(d Driver) bool { return slices.Contains(d.External, s) })
}

// reachAddons connects the simulated programs of CSI-Addons with external programs, in both
// directions.
func (c *Simulation) reachAddons() {
	if manager := c.options.isOutside(AddonsManager); manager || c.options.isOutside(AddonsProgram) {
		c.drivers.Addons.Reach(cluster.AddonsOutside{
			Gate: c.run.gate, API: c.API, Store: c.World.Store, Manager: c.options.AddonsManager.In(), DialTo: c.options.dial,
		}, manager)
	}
}

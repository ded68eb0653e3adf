package cluster

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/world/store"
)

// AddonsSidecar is a sidecar of CSI-Addons beside the plugin of a node or the controller plugin.
type AddonsSidecar struct {
	Pod  string // "namespace/name"; empty: csisim creates a pod
	Node string // node of the plugin; empty for the controller plugin
	Down bool   // started only on request
	// Options are its flags; the driver, the plugin and the pod are added to them.
	Options fakecontroller.AddonsSidecarOptions
}

// addonsPort is the port of the project's own examples.
const addonsPort = 9070

// addAddons adds the sidecars of CSI-Addons beside a driver. With the first sidecar, it also adds
// the controller manager. A mock driver that serves CSI-Addons has one sidecar beside each plugin,
// in separate pods.
func (ds *Drivers) addAddons(d *Driver) error {
	sidecars := d.Addons
	if len(sidecars) == 0 && d.Mock != nil && d.Mock.ServesAddons() {
		sidecars = ds.addonsOf(d)
	}
	switch {
	case d.Lacks(fakecontroller.AddonsSidecar) && len(d.Addons) > 0:
		return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "it has sidecars of CSI-Addons, which are external"}
	case d.Lacks(fakecontroller.AddonsSidecar):
		sidecars = nil
	case len(sidecars) == 0:
		return nil
	}
	if err := ds.Objects.DefineCSIAddons(); err != nil {
		return err
	}
	if ds.AddonsHost == "" {
		ds.Controllers.Add(ds.Addons.Manager(ds.AddonsManager))
	}
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
		if ds.AddonsHost != "" && s.Options.Port == 0 { // all sidecars have one address
			var err error
			if s.Options.Port, err = freePort(); err != nil {
				return err
			}
		}
		if s.Pod == "" {
			s.Pod = ownPod(d.Name, s.Node)
			ds.addonsPods.make(ds.World, s.Pod, ds.AddonsHost)
		}
		o := ds.addonsOptions(p, s)
		if s.Node == "" && controllers > 1 {
			o.Caller = fmt.Sprintf("%s-%d", fakecontroller.AddonsSidecar, controllers)
		}
		start := func(fakecontroller.Cluster) fakecontroller.Program { return ds.Addons.Sidecar(ds.World, ds.Wire, o) }
		ds.addBeside(p, fakecontroller.AddonsSidecar, fakecontroller.AddonsSidecar+"/"+o.Pod.Name, start).Down = s.Down
	}
	return nil
}

// addonsOptions returns the flags of a sidecar beside a plugin.
func (ds *Drivers) addonsOptions(p *Plugin, s AddonsSidecar) fakecontroller.AddonsSidecarOptions {
	namespace, name, _ := strings.Cut(s.Pod, "/")
	o := s.Options
	o.Driver, o.Machine, o.Socket, o.Node = p.Driver.Name, p.Machine, p.Addons, p.Node
	o.Pod, o.Port = store.Key{Namespace: namespace, Name: name}, cmp.Or(o.Port, addonsPort)
	o.NodeID = cmp.Or(o.NodeID, s.Node)
	if o.NodeID == "" && len(ds.Nodes.All) > 0 {
		o.NodeID = ds.Nodes.All[0].Name
	}
	return o
}

// addonsOf returns sidecars beside every plugin of a driver.
func (ds *Drivers) addonsOf(d *Driver) (all []AddonsSidecar) {
	if d.Controller != nil {
		all = append(all, AddonsSidecar{})
	}
	for _, n := range ds.Nodes.All {
		if d.Nodes[n.Name] != nil {
			all = append(all, AddonsSidecar{Node: n.Name})
		}
	}
	return all
}

// ownPod returns the pod that csisim creates for a sidecar.
func ownPod(driver, node string) string {
	return metav1.NamespaceSystem + "/" + strings.ReplaceAll(driver, ".", "-") + "-" + cmp.Or(node, "controller") + "-0"
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

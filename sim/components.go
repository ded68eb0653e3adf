package sim

import "github.com/csisim/csisim/internal/world/trace"

// Component is a program of the cluster that can be stopped and started: a Kubelet, a Plugin, a
// PluginRegistrar or a Controller.
type Component interface {
	kill(*Simulation) error
	stop(*Simulation) error
	start(*Simulation) error
	String() string
}

// Kubelet is the kubelet of the node with this name.
type Kubelet string

// Controller is a controller such as "attachdetach", or a sidecar with its driver such as
// "csi-attacher/disk.example.com". "kube-controller-manager" means all of its controllers.
type Controller string

// Plugin is a driver's plugin on a node; without a node, its controller plugin.
type Plugin struct {
	Driver, Node string
	// Alone leaves the registrar running when the plugin is stopped: the kubelet keeps the driver
	// registered. Default: false, both stop, like a pod with both containers.
	Alone bool
	// WithSocket also removes the socket file when the plugin is killed, as if the directory were
	// deleted with its container. Default: false, the file stays.
	WithSocket bool
}

// PluginRegistrar is the node-driver-registrar beside a driver's plugin on a node.
type PluginRegistrar struct{ Driver, Node string }

func (k Kubelet) kill(s *Simulation) error  { return s.nodes.KillKubelet(string(k)) }
func (k Kubelet) stop(s *Simulation) error  { return s.nodes.KillKubelet(string(k)) }
func (k Kubelet) start(s *Simulation) error { return s.nodes.RestartKubelet(string(k)) }

// String names it.
func (k Kubelet) String() string { return "kubelet on " + string(k) }

func (n Controller) kill(s *Simulation) error  { return s.controllers.Kill(string(n)) }
func (n Controller) stop(s *Simulation) error  { return s.controllers.Kill(string(n)) }
func (n Controller) start(s *Simulation) error { return s.controllers.Restart(string(n)) }

// String names it.
func (n Controller) String() string { return string(n) }

func (p Plugin) kill(s *Simulation) error {
	if err := s.drivers.KillPlugin(p.Driver, p.Node); err != nil || !p.WithSocket {
		return err
	}
	return s.drivers.RemoveSockets(p.Driver, p.Node)
}

func (p Plugin) stop(s *Simulation) error {
	if p.Alone {
		return s.drivers.StopPluginAlone(p.Driver, p.Node)
	}
	return s.drivers.StopPlugin(p.Driver, p.Node)
}

func (p Plugin) start(s *Simulation) error { return s.drivers.StartPlugin(p.Driver, p.Node) }

// String names it.
func (p Plugin) String() string {
	if p.Node == "" {
		return "controller plugin of " + p.Driver
	}
	return "plugin of " + p.Driver + " on " + p.Node
}

func (r PluginRegistrar) kill(s *Simulation) error {
	return s.drivers.TurnRegistrar(r.Driver, r.Node, trace.Killed)
}
func (r PluginRegistrar) stop(s *Simulation) error {
	return s.drivers.TurnRegistrar(r.Driver, r.Node, trace.Stopped)
}
func (r PluginRegistrar) start(s *Simulation) error {
	return s.drivers.TurnRegistrar(r.Driver, r.Node, trace.Started)
}

// String names it.
func (r PluginRegistrar) String() string { return "registrar of " + r.Driver + " on " + r.Node }

// Kill ends a program like SIGKILL: its memory is lost, but its socket file remains.
func (c *Simulation) Kill(component Component) error { return component.kill(c) }

// Stop ends a program like SIGTERM: plugins and registrars remove their sockets.
func (c *Simulation) Stop(component Component) error { return component.stop(c) }

// Start starts a program that was killed or stopped.
func (c *Simulation) Start(component Component) error { return component.start(c) }

// Restart kills a program and starts it again at once.
func (c *Simulation) Restart(component Component) error {
	if err := c.Kill(component); err != nil {
		return err
	}
	return c.Start(component)
}

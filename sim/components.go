package sim

import "github.com/csisim/csisim/drivers/fault"

// Component is a program of the cluster that a test can end and start: a Kubelet, a
// Plugin or a Controller.
type Component interface {
	kill(*Simulation) error
	start(*Simulation) error
	String() string
}

// Kubelet is the kubelet of the node of that name.
type Kubelet string

// Controller is a controller, such as "attachdetach", a sidecar with its driver, such
// as "csi-attacher/disk.example.com", or "kube-controller-manager" for all that are
// part of it.
type Controller string

// Plugin is a driver's plugin on a node, or its controller plugin if there is no node.
type Plugin struct{ Driver, Node string }

func (k Kubelet) kill(s *Simulation) error  { return s.KillKubelet(string(k)) }
func (k Kubelet) start(s *Simulation) error { return s.StartKubelet(string(k)) }

// String names it.
func (k Kubelet) String() string { return "kubelet on " + string(k) }

func (n Controller) kill(s *Simulation) error  { return s.KillController(string(n)) }
func (n Controller) start(s *Simulation) error { return s.StartController(string(n)) }

// String names it.
func (n Controller) String() string { return string(n) }

func (p Plugin) kill(s *Simulation) error  { return s.KillDriver(p.Driver, p.Node) }
func (p Plugin) start(s *Simulation) error { return s.StartDriver(p.Driver, p.Node) }

// String names it.
func (p Plugin) String() string {
	if p.Node == "" {
		return "controller plugin of " + p.Driver
	}
	return "plugin of " + p.Driver + " on " + p.Node
}

// Restart kills programs and starts them again at once: what they held in memory is
// gone.
func (c *Cluster) Restart(components ...Component) {
	c.t.Helper()
	for _, component := range components {
		c.Kill(component)
		c.Start(component)
	}
}

// Kill ends programs as SIGKILL does.
func (c *Cluster) Kill(components ...Component) {
	c.t.Helper()
	for _, component := range components {
		c.do("kill "+component.String(), func() error { return component.kill(c.Simulation) })
	}
}

// Start starts programs that were killed.
func (c *Cluster) Start(components ...Component) {
	c.t.Helper()
	for _, component := range components {
		c.do("start "+component.String(), func() error { return component.start(c.Simulation) })
	}
}

// PowerOff takes a node's power: kubelet, containers, driver programs and mounts are
// gone at once, files stay.
func (c *Cluster) PowerOff(node string) {
	c.t.Helper()
	c.do("power off "+node, func() error { return c.Simulation.PowerOff(node) })
}

// PowerOn boots a node that was powered off.
func (c *Cluster) PowerOn(node string) {
	c.t.Helper()
	c.do("power on "+node, func() error { return c.Simulation.PowerOn(node) })
}

// Inject puts a fault in force; the returned function ends it and lets go of the
// calls that it holds.
func (c *Cluster) Inject(f fault.Fault) (clear func()) {
	c.Exclusively(func() { c.Wire.Faults.Inject(&f) })
	return func() { c.Exclusively(func() { c.Wire.Faults.End(&f) }) }
}

// do does something to the cluster, which fails the test if it cannot be done.
func (c *Cluster) do(what string, action func() error) {
	c.t.Helper()
	var err error
	c.Exclusively(func() {
		c.World.Say(what)
		err = action()
	})
	c.must(err, what)
}

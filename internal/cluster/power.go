package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Power is the power of a cluster's nodes, and of the whole cluster.
type Power struct {
	*Drivers
	// Cluster is the name of the cluster.
	Cluster string

	off *outage // outage of the whole cluster; nil while it has power
}

// Off cuts the power of a node: its kubelet, containers, driver programs and mounts end at
// once. Its files stay, except those that driver programs have written to its disk and not synced.
func (c *Power) Off(name string) error {
	n, err := c.Nodes.Named(name)
	if err != nil {
		return err
	}
	switch down := c.Awaiting.Settle(PowerOf{Node: n}); {
	case down && n.Off:
		c.World.Trace.Note(name, "stays without power")
		return nil
	case n.Off:
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it is powered off already"}
	}
	c.World.Trace.Add(trace.Transition{Part: trace.Power, Name: "power", Verb: trace.Lost}.Entry(name))
	n.Off = true
	if n.Kubelet != nil {
		c.Nodes.CrashKubelet(n)
	}
	n.Runtime.PowerOff()
	if c.Checks.Data != nil {
		c.Checks.Data.PowerLost(name)
	}
	for _, d := range c.All {
		for _, p := range d.on(name) {
			if p.registrar != nil {
				p.registrar.Kill()
			}
			p.comesBack = p.Running || p.Name == ""
			c.cutPower(p)
		}
	}
	if err := n.Machine.PowerOff(); err != nil {
		return &EnvironmentError{Doing: "power off node " + name, Err: err}
	}
	if disk, is := n.Machine.(*machine.Disk); is && disk.Lost() > 0 {
		c.World.Trace.Note(name, "%d files have lost unsynced writes", disk.Lost())
	}
	c.Checks.Watch.ResetMounts(n.Machine)
	return nil
}

// On boots a node: drivers and their registrars, then the kubelet.
func (c *Power) On(name string) error {
	return notAgain(fault.Node, "power-off", c.on(name))
}

func (c *Power) on(name string) error {
	n, err := c.Nodes.Named(name)
	if err != nil {
		return err
	}
	if !n.Off {
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it has power"}
	}
	c.World.Trace.Note(name, "power on")
	c.Awaiting.Settle(PowerOf{Node: n})
	c.Awaiting.Settle(KubeletOf{Node: n})
	n.Off = false
	for _, d := range c.All {
		for _, p := range d.on(name) {
			if !p.comesBack {
				continue
			}
			if p.next != "" {
				c.replacePod(p)
			}
			if err := p.start(); err != nil {
				return err
			}
			if p.registrar != nil {
				p.registrar.Start()
			}
			c.renewSidecars(p)
		}
	}
	c.Checks.Watch.See(n.Machine, nil)
	c.Nodes.StartKubelet(n)
	return nil
}

// outage lists the components that had power when a whole cluster lost it.
type outage struct {
	nodes       []string
	plugins     []*Plugin
	controllers []*Controller
}

// OffAll cuts the power of the whole cluster: all nodes, the control plane and the controller
// plugins. The objects of the API remain, and cannot be changed meanwhile.
func (c *Power) OffAll() error {
	if err := c.Powered(); err != nil {
		return err
	}
	c.World.Trace.Note("", "power of the cluster lost")
	c.off = &outage{}
	var errs []error
	for _, n := range c.Nodes.All {
		if !n.Off {
			c.off.nodes = append(c.off.nodes, n.Name)
			errs = append(errs, c.Off(n.Name))
		}
	}
	for _, ctl := range c.Controllers.All {
		if ctl.Runs() {
			c.off.controllers = append(c.off.controllers, ctl)
			ctl.Crash()
		}
	}
	for _, d := range c.All {
		for _, p := range d.Controllers() {
			if p.Node != "" || !p.Running {
				continue
			}
			c.off.plugins = append(c.off.plugins, p)
			c.cutPower(p)
		}
	}
	for _, m := range c.ControlPlanes {
		errs = append(errs, m.PowerOff())
	}
	return errors.Join(errs...)
}

// OnAll restores the power of the cluster, and starts the components that ran before.
func (c *Power) OnAll() error {
	if c.off == nil {
		return &ConfigError{Subject: "cluster " + c.Cluster, Problem: "it has power"}
	}
	c.World.Trace.Note("", "power of the cluster is back")
	before := c.off
	c.off = nil
	var errs []error
	for _, p := range before.plugins {
		errs = append(errs, c.bringUp(p))
	}
	for _, ctl := range before.controllers {
		ctl.Run()
	}
	for _, name := range before.nodes {
		errs = append(errs, c.On(name))
	}
	return errors.Join(errs...)
}

// Powered returns an error if the whole cluster has no power: its API cannot be reached then.
func (c *Power) Powered() error {
	if c.off != nil {
		return &ConfigError{Subject: fmt.Sprintf("cluster %q", c.Cluster), Problem: "it has no power"}
	}
	return nil
}

// cutPower ends a plugin when its machine loses power.
func (c *Power) cutPower(p *Plugin) {
	p.Running = false
	p.orders++
	p.Backend.LostPower()
	c.disconnect(p)
}

// bootDelay is the time from the end of process 1 of a node until the node boots.
const bootDelay = 10 * time.Second

// LostProcessOne treats the end of process 1 of a machine as a loss of power, and boots the
// machine.
func (c *Power) LostProcessOne(m *machine.Disk, how string) {
	text := fmt.Sprintf("process 1 of %s: %s; the machine boots again", m.Name(), how)
	c.Died = append(c.Died, judged.Death{Of: "process 1 of " + m.Name(), Text: text})
	c.World.Kernel.RecordOutside("end of a program: " + text)
	c.World.Trace.Add(trace.Entry{Kind: trace.Died, Node: m.Name(), Message: text})
	n, err := c.Nodes.Named(m.Name())
	if err != nil { // a control plane: its programs start again by themselves
		c.noteFailure(m.Name(), m.PowerOff())
		c.noteFailure(m.Name(), m.Reboot())
		return
	}
	boots := !n.Off
	if boots {
		c.noteFailure(n.Name, c.Off(n.Name))
	}
	c.noteFailure(n.Name, m.Reboot())
	if !boots {
		return
	}
	c.World.Kernel.Spawn(nil, "boot of "+n.Name, func(p *kernel.Process) {
		p.Sleep(bootDelay)
		if !n.Off {
			return
		}
		c.noteFailure(n.Name, c.On(n.Name))
		if n.Kubelet != nil {
			n.Kubelet.Rebooted("its process 1 has ended: " + how)
		}
	})
}

func (c *Power) noteFailure(node string, err error) {
	if err != nil {
		c.World.Trace.Note(node, "does not boot: %v", err)
	}
}

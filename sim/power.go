package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/machine"
)

// PowerOff cuts the power of a node: its kubelet, containers, driver programs and mounts end at
// once. Its files stay, except those that driver programs have written to its disk and not synced.
func (c *Simulation) PowerOff(name string) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	switch down := c.awaitingRestart.Settle(cluster.PowerOf{Node: n}); {
	case down && n.Off:
		c.World.Trace.Note(name, "stays without power")
		return nil
	case n.Off:
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it is powered off already"}
	}
	c.transition(name, trace.Power, "power", trace.Lost)
	n.Off = true
	if n.Kubelet != nil {
		c.nodes.CrashKubelet(n)
	}
	n.Runtime.PowerOff()
	if c.checks.Data != nil {
		c.checks.Data.PowerLost(name)
	}
	for _, d := range c.drivers {
		for _, p := range d.on(name) {
			if p.registrar != nil {
				p.registrar.Kill()
			}
			p.comesBack = p.running || p.name == ""
			c.cutPower(p)
		}
	}
	if err := n.Machine.PowerOff(); err != nil {
		return &EnvironmentError{Doing: "power off node " + name, Err: err}
	}
	if disk, is := n.Machine.(*machine.Disk); is && disk.Lost() > 0 {
		c.World.Trace.Note(name, "%d files have lost unsynced writes", disk.Lost())
	}
	c.checks.Watch.ResetMounts(n.Machine)
	return nil
}

// PowerOn boots a node: drivers and their registrars, then the kubelet.
func (c *Simulation) PowerOn(name string) error {
	return notAgain(fault.Node, "power-off", c.powerOn(name))
}

func (c *Simulation) powerOn(name string) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	if !n.Off {
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it has power"}
	}
	c.World.Trace.Note(name, "power on")
	c.awaitingRestart.Settle(cluster.PowerOf{Node: n})
	c.awaitingRestart.Settle(cluster.KubeletOf{Node: n})
	n.Off = false
	for _, d := range c.drivers {
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
	c.checks.Watch.See(n.Machine, nil)
	c.nodes.StartKubelet(n)
	return nil
}

// outage lists the components that had power when a whole cluster lost it.
type outage struct {
	nodes       []string
	plugins     []*plugin
	controllers []*cluster.Controller
}

// PowerOffAll cuts the power of the whole cluster: all nodes, the control plane and the controller
// plugins. The objects of the API remain, and cannot be changed meanwhile.
func (c *Simulation) PowerOffAll() error {
	if err := c.Powered(); err != nil {
		return err
	}
	c.World.Trace.Note("", "power of the cluster lost")
	c.off = &outage{}
	var errs []error
	for _, n := range c.nodes.All {
		if !n.Off {
			c.off.nodes = append(c.off.nodes, n.Name)
			errs = append(errs, c.PowerOff(n.Name))
		}
	}
	for _, ctl := range c.controllers.All {
		if ctl.Runs() {
			c.off.controllers = append(c.off.controllers, ctl)
			ctl.Crash()
		}
	}
	for _, d := range c.drivers {
		for _, p := range d.controllers() {
			if p.node != "" || !p.running {
				continue
			}
			c.off.plugins = append(c.off.plugins, p)
			c.cutPower(p)
		}
	}
	for _, m := range c.controlPlanes {
		errs = append(errs, m.PowerOff())
	}
	return errors.Join(errs...)
}

// PowerOnAll gives the cluster its power back: all that ran begins again.
func (c *Simulation) PowerOnAll() error {
	if c.off == nil {
		return &ConfigError{Subject: "cluster " + c.cluster, Problem: "it has power"}
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
		errs = append(errs, c.PowerOn(name))
	}
	return errors.Join(errs...)
}

// Powered returns an error if the whole cluster has no power: its API cannot be reached then.
func (c *Simulation) Powered() error {
	if c.off != nil {
		return &ConfigError{Subject: fmt.Sprintf("cluster %q", c.cluster), Problem: "it has no power"}
	}
	return nil
}

// cutPower ends a plugin as its machine loses power.
func (c *Simulation) cutPower(p *plugin) {
	p.running = false
	p.orders++
	p.backend.lostPower()
	c.disconnect(p)
}

// ShutDown shuts a node down as its operating system does. The kubelet ends the pods, critical ones
// last, and waits for their volumes within grace; then the power is off. It runs until then.
// Volumes that are still mounted are reported in the trace.
func (c *Simulation) ShutDown(name string, grace fakekubelet.ShutdownGrace) error {
	n, err := c.nodes.Named(name)
	if err != nil {
		return err
	}
	if n.Off || n.Kubelet == nil {
		return &ConfigError{Subject: fmt.Sprintf("node %q", name), Problem: "it has no kubelet that runs: power-off needs none"}
	}
	c.World.Trace.Note(name, "shutting down, %v for its pods", grace.Total)
	over := false
	n.Kubelet.ShutDown(grace, func(left error) {
		over = true
		if left != nil {
			c.World.Trace.Note(name, "there was no time for all volumes: %v", left)
		}
	})
	if err := c.WaitFor("node "+name+" to end its pods", grace.Total+time.Minute, func() bool { return over }); err != nil {
		return err
	}
	return c.PowerOff(name)
}

// bootDelay is the time from the end of process 1 of a node until the node boots.
const bootDelay = 10 * time.Second

// lostProcessOne counts the end of process 1 of a machine as a loss of power, and boots it.
func (c *Simulation) lostProcessOne(m *machine.Disk, how string) {
	text := fmt.Sprintf("process 1 of %s: %s; the machine boots again", m.Name(), how)
	c.died = append(c.died, expect.Death{Of: "process 1 of " + m.Name(), Text: text})
	c.World.Kernel.RecordOutside("end of a program: " + text)
	c.World.Trace.Add(trace.Entry{Kind: trace.Died, Node: m.Name(), Message: text})
	n, err := c.nodes.Named(m.Name())
	if err != nil { // a control plane: its programs start again by themselves
		c.noteFailure(m.Name(), m.PowerOff())
		c.noteFailure(m.Name(), m.Reboot())
		return
	}
	boots := !n.Off
	if boots {
		c.noteFailure(n.Name, c.PowerOff(n.Name))
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
		c.noteFailure(n.Name, c.PowerOn(n.Name))
		if n.Kubelet != nil {
			n.Kubelet.Rebooted("its process 1 has ended: " + how)
		}
	})
}

func (c *Simulation) noteFailure(node string, err error) {
	if err != nil {
		c.World.Trace.Note(node, "does not boot: %v", err)
	}
}

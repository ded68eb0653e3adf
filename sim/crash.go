package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/trace"
)

// transition records that a component starts or ends.
func (c *Simulation) transition(node string, part trace.Part, who string, verb trace.Verb) {
	c.World.Trace.Add(trace.Transition{Part: part, Name: who, Verb: verb}.Entry(node))
}

// pluginTransition records that a plugin starts or ends, with more text.
func (c *Simulation) pluginTransition(p *plugin, node string, verb trace.Verb, words string) {
	e := trace.Transition{Part: trace.Plugin, Name: p.String(), Verb: verb, Driver: p.driver.Name}.Entry(node)
	e.Message += words
	c.World.Trace.Add(e)
}

// killPlugin ends a plugin like SIGKILL: its socket file stays. An empty node means the controller
// plugin. The registrar continues to run.
func (c *Simulation) killPlugin(name, node string) error {
	return c.each(name, node, func(p *plugin) error {
		c.pluginTransition(p, node, trace.Killed, "")
		c.awaitingRestart.Settle(p)
		defer c.disconnect(p)
		return p.kill()
	})
}

// removeSockets removes the socket files that killed plugins have left.
func (c *Simulation) removeSockets(name, node string) error {
	return c.each(name, node, func(p *plugin) error {
		c.World.Trace.Note(node, "the socket file of plugin %s is removed, too", p)
		for _, socket := range slices.Compact([]string{p.socket, p.addons}) {
			if err := p.machine.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the socket of %s: %w", p, err)
			}
		}
		return nil
	})
}

// each calls do for all plugins of a name.
func (c *Simulation) each(name, node string, do func(*plugin) error) error {
	plugins, err := c.pluginsMeant(name, node)
	errs := []error{err}
	for _, p := range plugins {
		errs = append(errs, do(p))
	}
	return errors.Join(errs...)
}

// stopPlugin ends a plugin and its registrar like SIGTERM: both remove their sockets.
func (c *Simulation) stopPlugin(name, node string) error {
	return c.each(name, node, c.stopWithRegistrar)
}

func (c *Simulation) stopWithRegistrar(p *plugin) error {
	c.pluginTransition(p, p.node, trace.Stopped, "")
	c.awaitingRestart.Settle(p)
	defer c.disconnect(p)
	if p.registrar != nil {
		c.awaitingRestart.Settle(p.registrar)
		if err := p.registrar.Stop(); err != nil {
			return err
		}
	}
	c.replacePod(p)
	return p.stop()
}

// stopPluginAlone ends only a plugin, like SIGTERM. Its process exits and its socket is removed.
// Its registrar continues to run, and the kubelet keeps the driver registered.
func (c *Simulation) stopPluginAlone(name, node string) error {
	p, err := c.plugin(name, node)
	if err != nil {
		return err
	}
	c.pluginTransition(p, node, trace.Stopped, ", its registrar stays")
	c.awaitingRestart.Settle(p)
	defer c.disconnect(p)
	c.replacePod(p)
	return p.stop()
}

// disconnect notifies the callers of a plugin that it has exited.
func (c *Simulation) disconnect(p *plugin) {
	p.hangUp()
	c.Wire.Forget(p.machine, p.socket)
	c.Wire.Forget(p.machine, p.addons)
	for _, s := range p.beside {
		s.DriverGone()
	}
}

// startPlugin starts a plugin, and its registrar, unless they run.
func (c *Simulation) startPlugin(name, node string) error {
	return notAgain(fault.Driver, "a step", c.each(name, node, c.startAgain))
}

// notAgain returns the error of a program that does not start after a step ended the victim as the
// error of a program that a fault killed. It returns all other errors unchanged.
func notAgain(victim fault.Victim, at string, err error) error {
	failed, upgraded := (*program.StartError)(nil), (*UpgradeError)(nil)
	if !errors.As(err, &failed) || errors.As(err, &upgraded) {
		return err
	}
	return &wire.RestartError{Victim: victim, At: at, Err: err}
}

// bringUp starts a plugin, its registrar and, in a new pod, its sidecars.
func (c *Simulation) bringUp(p *plugin) error {
	err := p.start()
	switch {
	case err != nil && p.renewed:
		return &UpgradeError{Plugin: p.String(), Node: p.node, Version: p.release(), Err: err}
	case err != nil:
		return err
	}
	c.checks.Watch.See(p.machine, nil)
	c.checks.Watch.Started(p.machine, p.driver.Name)
	if p.registrar != nil {
		p.registrar.Start()
	}
	c.renewSidecars(p)
	return nil
}

// turnRegistrar stops a registrar like SIGTERM, kills it like SIGKILL, which leaves its socket, or
// starts it unless it runs.
func (c *Simulation) turnRegistrar(name, node string, verb trace.Verb) error {
	p, err := c.nodePlugin(name, node)
	if err != nil {
		return err
	}
	c.transition(node, trace.Registrar, "registrar of "+p.String(), verb)
	c.awaitingRestart.Settle(p.registrar)
	switch verb {
	case trace.Stopped:
		return p.registrar.Stop()
	case trace.Killed:
		p.registrar.Kill()
	default:
		p.registrar.Start()
	}
	return nil
}

func (c *Simulation) nodePlugin(name, node string) (*plugin, error) {
	p, err := c.plugin(name, node)
	if err == nil && p.registrar == nil {
		return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "only a node's plugin has a registrar, unless that is external"}
	}
	return p, err
}

// stop ends all of a driver's plugins, for the end of the cluster.
func (d *driver) stop() error {
	var first error
	for _, p := range append(append(append([]*plugin{d.controller}, d.replicas...), values(d.nodes)...), d.further...) {
		if p == nil {
			continue
		}
		if err := p.stop(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

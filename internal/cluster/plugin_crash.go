package cluster

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

// pluginTransition records that a plugin starts or ends, with more text.
func (ds *Drivers) pluginTransition(p *Plugin, node string, verb trace.Verb, words string) {
	e := trace.Transition{Part: trace.Plugin, Name: p.String(), Verb: verb, Driver: p.Driver.Name}.Entry(node)
	e.Message += words
	ds.World.Trace.Add(e)
}

// KillPlugin ends a plugin like SIGKILL: its socket file stays. An empty node means the controller
// plugin. The registrar continues to run.
func (ds *Drivers) KillPlugin(name, node string) error {
	return ds.each(name, node, func(p *Plugin) error {
		ds.pluginTransition(p, node, trace.Killed, "")
		ds.Awaiting.Settle(p)
		defer ds.disconnect(p)
		return p.kill()
	})
}

// RemoveSockets removes the socket files that killed plugins have left.
func (ds *Drivers) RemoveSockets(name, node string) error {
	return ds.each(name, node, func(p *Plugin) error {
		ds.World.Trace.Note(node, "the socket file of plugin %s is removed, too", p)
		for _, socket := range slices.Compact([]string{p.Socket, p.Addons}) {
			if err := p.Machine.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the socket of %s: %w", p, err)
			}
		}
		return nil
	})
}

// StopPlugin ends a plugin and its registrar like SIGTERM: both remove their sockets.
func (ds *Drivers) StopPlugin(name, node string) error {
	return ds.each(name, node, ds.stopWithRegistrar)
}

func (ds *Drivers) stopWithRegistrar(p *Plugin) error {
	ds.pluginTransition(p, p.Node, trace.Stopped, "")
	ds.Awaiting.Settle(p)
	defer ds.disconnect(p)
	if p.registrar != nil {
		ds.Awaiting.Settle(p.registrar)
		if err := p.registrar.Stop(); err != nil {
			return err
		}
	}
	ds.replacePod(p)
	return p.stop()
}

// StopPluginAlone ends only a plugin, like SIGTERM. Its process exits and its socket is removed.
// Its registrar continues to run, and the kubelet keeps the driver registered.
func (ds *Drivers) StopPluginAlone(name, node string) error {
	p, err := ds.Plugin(name, node)
	if err != nil {
		return err
	}
	ds.pluginTransition(p, node, trace.Stopped, ", its registrar stays")
	ds.Awaiting.Settle(p)
	defer ds.disconnect(p)
	ds.replacePod(p)
	return p.stop()
}

// disconnect notifies the callers of a plugin that it has exited.
func (ds *Drivers) disconnect(p *Plugin) {
	p.hangUp()
	ds.Wire.Forget(p.Machine, p.Socket)
	ds.Wire.Forget(p.Machine, p.Addons)
	for _, s := range p.beside {
		s.DriverGone()
	}
}

// StartPlugin starts a plugin, and its registrar, unless they run.
func (ds *Drivers) StartPlugin(name, node string) error {
	return notAgain(fault.Driver, "a step", ds.each(name, node, ds.startAgain))
}

// notAgain handles the error of a program that does not start again after a step. It converts the
// error to the one after a kill by a fault, and returns other errors unchanged.
func notAgain(victim fault.Victim, at string, err error) error {
	failed, upgraded := (*program.StartError)(nil), (*UpgradeError)(nil)
	if !errors.As(err, &failed) || errors.As(err, &upgraded) {
		return err
	}
	return &wire.RestartError{Victim: victim, At: at, Err: err}
}

// bringUp starts a plugin, its registrar and, in a new pod, its sidecars.
func (ds *Drivers) bringUp(p *Plugin) error {
	err := p.start()
	switch {
	case err != nil && p.renewed:
		return &UpgradeError{Plugin: p.String(), Node: p.Node, Version: p.release(), Err: err}
	case err != nil:
		return err
	}
	ds.Checks.Watch.See(p.Machine, nil)
	ds.Checks.Watch.Started(p.Machine, p.Driver.Name)
	if p.registrar != nil {
		p.registrar.Start()
	}
	ds.renewSidecars(p)
	return nil
}

// startAgain starts a plugin, in its new pod if it has one.
func (ds *Drivers) startAgain(p *Plugin) error {
	words := ""
	if p.renewed {
		words = ", version " + p.release()
	}
	ds.pluginTransition(p, p.Node, trace.Started, words)
	ds.Awaiting.Settle(p)
	return ds.bringUp(p)
}

// TurnRegistrar stops a registrar like SIGTERM, kills it like SIGKILL, which leaves its socket, or
// starts it unless it runs.
func (ds *Drivers) TurnRegistrar(name, node string, verb trace.Verb) error {
	p, err := ds.nodePlugin(name, node)
	if err != nil {
		return err
	}
	ds.World.Trace.Add(trace.Transition{Part: trace.Registrar, Name: "registrar of " + p.String(), Verb: verb}.Entry(node))
	ds.Awaiting.Settle(p.registrar)
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

func (ds *Drivers) nodePlugin(name, node string) (*Plugin, error) {
	p, err := ds.Plugin(name, node)
	if err == nil && p.registrar == nil {
		return nil, &ConfigError{Subject: fmt.Sprintf("driver %q", name), Problem: "only a node's plugin has a registrar, unless that is external"}
	}
	return p, err
}

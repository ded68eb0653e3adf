package sim

import (
	"errors"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/trace"
)

// faults lets faults kill parts of the cluster at calls, and the strategy of a run draw faults.
type faults struct{ *Simulation }

// Kill ends the victim, unless it is dead already.
func (c faults) Kill(victim fault.Victim, at wire.Site) error {
	victims, err := c.victims(victim, at)
	if err != nil || !slices.ContainsFunc(victims, runs) {
		return err
	}
	victims = slices.DeleteFunc(victims, func(component any) bool { return !runs(component) && !c.awaitingRestart[component] })
	switch victim = c.named(victim, at); victim {
	case fault.Driver:
		err = c.killPlugin(c.pluginAt(at), at.Node)
	case fault.Kubelet:
		err = c.nodes.KillKubelet(at.Node)
	case fault.Node:
		err = c.PowerOff(at.Node)
	case registrar.Name:
		err = c.turnRegistrar(c.pluginAt(at), at.Node, trace.Killed)
	default:
		err = c.controllers.Kill(string(victim))
	}
	for _, component := range victims {
		c.awaitingRestart[component] = true
	}
	return err
}

// Restart starts the stopped parts of a fault's victim again, unless its node has no power, or the
// scenario has ended it since.
func (c faults) Restart(f *fault.Fault, at wire.Site) error {
	victim := f.Victim
	victims, err := c.victims(victim, at)
	if err != nil {
		return err
	}
	victims = slices.DeleteFunc(victims, func(component any) bool { return !c.awaitingRestart.Settle(component) || runs(component) })
	if len(victims) == 0 {
		return nil
	}
	switch victim = c.named(victim, at); victim {
	case fault.Node:
		return c.powerOn(at.Node)
	case fault.Kubelet:
		return c.nodes.RestartKubelet(at.Node)
	case registrar.Name:
		return c.turnRegistrar(c.pluginAt(at), at.Node, trace.Started)
	case fault.Driver:
		for _, p := range victims {
			err = errors.Join(err, c.restartPlugin(p.(*plugin), f.RestartAs))
		}
		return err
	}
	c.controllers.Note(string(victim), trace.Started)
	for _, ctl := range victims {
		ctl.(*cluster.Controller).Run()
	}
	return nil
}

// victims returns the components of a victim; on a node without power only the node itself.
func (c faults) victims(victim fault.Victim, at wire.Site) (all []any, err error) {
	var n *cluster.Node
	if at.Node != "" {
		if n, err = c.nodes.Named(at.Node); err != nil {
			return nil, err
		}
	}
	switch victim = c.named(victim, at); {
	case victim == fault.Node:
		return []any{cluster.PowerOf{Node: n}}, nil
	case n != nil && n.Off:
		return nil, nil
	case victim == fault.Kubelet:
		return []any{cluster.KubeletOf{Node: n}}, nil
	case victim == fault.Driver:
		plugins, err := c.pluginsMeant(c.pluginAt(at), at.Node)
		return anyOf(plugins), err
	case victim == registrar.Name:
		p, err := c.nodePlugin(c.pluginAt(at), at.Node)
		if err != nil {
			return nil, err
		}
		return []any{p.registrar}, nil
	}
	controllers, err := c.controllers.Named(string(victim))
	return anyOf(controllers), err
}

// anyOf converts components to values of any type.
func anyOf[T any](components []T) (all []any) {
	for _, component := range components {
		all = append(all, component)
	}
	return all
}

// named returns the caller's kind: a kubelet, a registrar, or a plugin's sidecar.
func (c faults) named(victim fault.Victim, at wire.Site) fault.Victim {
	switch {
	case victim != fault.Caller:
		return victim
	case at.Caller == string(fault.Kubelet), at.Caller == registrar.Name:
		return fault.Victim(at.Caller)
	}
	program, _, _ := strings.Cut(at.Caller, "/")
	for _, d := range c.drivers {
		for _, p := range c.plugins(d) {
			i := slices.IndexFunc(p.beside, func(s *cluster.Controller) bool { return s.Sidecar == program })
			if i >= 0 && p.servesAt(at) {
				return fault.Victim(p.beside[i].Name)
			}
		}
	}
	return fault.Victim(at.Caller + "/" + at.Driver)
}

// HasService reports whether a stand-in shows the requests of a driver's plugin.
func (c faults) HasService(driver, node string) bool {
	return c.driver(driver).standInAccess(node) != nil
}

// HasVersions reports whether a driver has several releases.
func (c faults) HasVersions(driver string) bool {
	d := c.driver(driver)
	return d != nil && len(d.versions()) > 0
}

// ProgramOf is the program that a component is or belongs to: a kubelet, a sidecar, or
// kube-controller-manager with all its controllers; empty if it cannot be killed.
func (c faults) ProgramOf(of *component.Component) fault.Victim {
	if slices.ContainsFunc(c.nodes.All, func(n *cluster.Node) bool { return of.Keeps(&n.Pace) }) {
		return fault.Kubelet
	}
	return c.controllers.ProgramOf(of)
}

// runs reports whether there is something to end.
func runs(component any) bool {
	switch is := component.(type) {
	case *cluster.Controller:
		return is.Runs()
	case *plugin:
		return is.running
	case *registrar.Registrar:
		return is.Running()
	case cluster.KubeletOf:
		return is.Kubelet != nil
	case cluster.PowerOf:
		return !is.Off
	}
	return false
}

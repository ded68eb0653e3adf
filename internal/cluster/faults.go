package cluster

import (
	"errors"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/trace"
)

// Faults lets faults kill parts of the cluster at calls, and the strategy of a run draw faults.
type Faults struct{ *Power }

// Kill ends the victim, unless it is dead already.
func (c Faults) Kill(victim fault.Victim, at wire.Site) error {
	victims, err := c.victims(victim, at)
	if err != nil || !slices.ContainsFunc(victims, runs) {
		return err
	}
	victims = slices.DeleteFunc(victims, func(component any) bool { return !runs(component) && !c.Awaiting[component] })
	switch victim = c.program(victim, at); victim {
	case fault.Driver:
		err = c.KillPlugin(c.pluginAt(at), at.Node)
	case fault.Kubelet:
		err = c.Nodes.KillKubelet(at.Node)
	case fault.Node:
		err = c.Off(at.Node)
	case registrar.Name:
		err = c.TurnRegistrar(c.pluginAt(at), at.Node, trace.Killed)
	default:
		err = c.Controllers.Kill(string(victim))
	}
	for _, component := range victims {
		c.Awaiting[component] = true
	}
	return err
}

// Restart restarts the stopped parts of a fault's victim, unless the node has no power or the
// scenario has ended the victim since.
func (c Faults) Restart(f *fault.Fault, at wire.Site) error {
	victim := f.Victim
	victims, err := c.victims(victim, at)
	if err != nil {
		return err
	}
	victims = slices.DeleteFunc(victims, func(component any) bool { return !c.Awaiting.Settle(component) || runs(component) })
	if len(victims) == 0 {
		return nil
	}
	switch victim = c.program(victim, at); victim {
	case fault.Node:
		return c.on(at.Node)
	case fault.Kubelet:
		return c.Nodes.RestartKubelet(at.Node)
	case registrar.Name:
		return c.TurnRegistrar(c.pluginAt(at), at.Node, trace.Started)
	case fault.Driver:
		for _, p := range victims {
			err = errors.Join(err, c.restartPlugin(p.(*Plugin), f.RestartAs))
		}
		return err
	}
	c.Controllers.Note(string(victim), trace.Started)
	for _, ctl := range victims {
		ctl.(*Controller).Run()
	}
	return nil
}

// victims returns the components of a victim; on a node without power only the node itself.
func (c Faults) victims(victim fault.Victim, at wire.Site) (all []any, err error) {
	var n *Node
	if at.Node != "" {
		if n, err = c.Nodes.Named(at.Node); err != nil {
			return nil, err
		}
	}
	switch victim = c.program(victim, at); {
	case victim == fault.Node:
		return []any{PowerOf{Node: n}}, nil
	case n != nil && n.Off:
		return nil, nil
	case victim == fault.Kubelet:
		return []any{KubeletOf{Node: n}}, nil
	case victim == fault.Driver:
		plugins, err := c.meant(c.pluginAt(at), at.Node)
		return anyOf(plugins), err
	case victim == registrar.Name:
		p, err := c.nodePlugin(c.pluginAt(at), at.Node)
		if err != nil {
			return nil, err
		}
		return []any{p.registrar}, nil
	}
	controllers, err := c.Controllers.Named(string(victim))
	return anyOf(controllers), err
}

// anyOf converts components to values of any type.
func anyOf[T any](components []T) (all []any) {
	for _, component := range components {
		all = append(all, component)
	}
	return all
}

// program returns the caller's kind: a kubelet, a registrar, or a plugin's sidecar.
func (c Faults) program(victim fault.Victim, at wire.Site) fault.Victim {
	switch {
	case victim != fault.Caller:
		return victim
	case at.Caller == string(fault.Kubelet), at.Caller == registrar.Name:
		return fault.Victim(at.Caller)
	}
	program, _, _ := strings.Cut(at.Caller, "/")
	for _, d := range c.All {
		for _, p := range c.Plugins(d) {
			i := slices.IndexFunc(p.beside, func(s *Controller) bool { return s.Sidecar == program })
			if i >= 0 && p.servesAt(at) {
				return fault.Victim(p.beside[i].Name)
			}
		}
	}
	return fault.Victim(at.Caller + "/" + at.Driver)
}

// HasService reports whether a stand-in shows the requests of a driver's plugin.
func (c Faults) HasService(driver, node string) bool {
	return c.Find(driver).StandIn(node) != nil
}

// HasVersions reports whether a driver has several releases.
func (c Faults) HasVersions(driver string) bool {
	d := c.Find(driver)
	return d != nil && len(d.Versions) > 0
}

// ProgramOf returns the program that a component is or belongs to: a kubelet, a sidecar, or
// kube-controller-manager with all its controllers; empty if it cannot be killed.
func (c Faults) ProgramOf(of *component.Component) fault.Victim {
	if slices.ContainsFunc(c.Nodes.All, func(n *Node) bool { return of.Keeps(&n.Pace) }) {
		return fault.Kubelet
	}
	return c.Controllers.ProgramOf(of)
}

// runs reports whether a component runs, so that it can be ended.
func runs(component any) bool {
	switch is := component.(type) {
	case *Controller:
		return is.Runs()
	case *Plugin:
		return is.Running
	case *registrar.Registrar:
		return is.Running()
	case KubeletOf:
		return is.Kubelet != nil
	case PowerOf:
		return !is.Off
	}
	return false
}

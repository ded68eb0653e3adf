package sim

import (
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
)

// crashes lets faults kill parts of the cluster at calls.
type crashes struct{ *Simulation }

// Kill ends the victim, unless it is dead already.
func (c crashes) Kill(victim fault.Victim, at wire.Site) error {
	var n *node
	if at.Node != "" {
		var err error
		if n, err = c.node(at.Node); err != nil {
			return err
		}
	}
	switch victim = c.named(victim, at); {
	case n != nil && n.off, victim == fault.Kubelet && n != nil && n.kubelet == nil:
		return nil
	case victim == fault.Driver:
		return c.killPlugin(c.pluginAt(at), at.Node)
	case victim == fault.Kubelet:
		return c.killKubelet(at.Node)
	case victim == fault.Node:
		return c.PowerOff(at.Node)
	case victim == registrar.Name:
		return c.killRegistrar(c.pluginAt(at), at.Node)
	default:
		return c.killController(string(victim))
	}
}

// Restart starts the victim again, unless it runs or its node has no power.
func (c crashes) Restart(victim fault.Victim, at wire.Site) error {
	var n *node
	if at.Node != "" {
		var err error
		if n, err = c.node(at.Node); err != nil {
			return err
		}
	}
	off := n != nil && n.off
	switch victim = c.named(victim, at); {
	case victim == fault.Node && off:
		return c.PowerOn(at.Node)
	case victim == fault.Node, off:
		return nil
	case victim == fault.Driver:
		return c.startPlugin(c.pluginAt(at), at.Node)
	case victim == fault.Kubelet && n.kubelet != nil:
		return nil
	case victim == fault.Kubelet:
		return c.startKubelet(at.Node)
	case victim == registrar.Name:
		return c.startRegistrar(c.pluginAt(at), at.Node)
	default:
		return c.startController(string(victim))
	}
}

// named says who the caller is: a kubelet, a registrar, or a plugin's sidecar.
func (c crashes) named(victim fault.Victim, at wire.Site) fault.Victim {
	switch {
	case victim != fault.Caller:
		return victim
	case at.Caller == string(fault.Kubelet), at.Caller == registrar.Name:
		return fault.Victim(at.Caller)
	}
	program, _, _ := strings.Cut(at.Caller, "/")
	for _, ctl := range c.controllers {
		if p := ctl.beside; p != nil && ctl.sidecar == program && p.servesAt(at) {
			return fault.Victim(ctl.name)
		}
	}
	return fault.Victim(at.Caller + "/" + at.Driver)
}

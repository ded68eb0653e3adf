package cluster

import (
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// loseRegistration removes the registration socket of the called plugin for a while.
func (u *Users) loseRegistration(p *kernel.Process, at fault.Site) error {
	if err := u.Drivers.TurnRegistrar(at.Driver, at.Node, trace.Stopped); err != nil {
		return err
	}
	p.Sleep(actionTime)
	if n, err := u.Drivers.Nodes.Named(at.Node); err != nil || n.Off {
		return err
	}
	return u.Drivers.TurnRegistrar(at.Driver, at.Node, trace.Started)
}

// registerTwice makes the called plugin register again at a second socket, beside the existing one.
func (u *Users) registerTwice(_ *kernel.Process, at fault.Site) error {
	if err := u.Drivers.TurnRegistrar(at.Driver, at.Node, trace.Killed); err != nil {
		return err
	}
	return u.Drivers.TurnRegistrar(at.Driver, at.Node, trace.Started)
}

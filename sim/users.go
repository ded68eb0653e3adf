package sim

import (
	"errors"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// users are the users and administrators of the cluster.
func (c *Simulation) users() *cluster.Users {
	return &cluster.Users{
		World: c.World, Wire: c.Wire, Objects: c.objects,
		Others: map[fault.Action]func(*kernel.Process, fault.Site) error{
			fault.SocketVanishes: c.loseRegistration, fault.RegistersTwice: c.registerTwice,
		},
		IsRejection: func(err error) bool {
			config := (*ConfigError)(nil)
			return errors.As(err, &config)
		},
	}
}

// loseRegistration removes the registration socket of the called plugin for a while.
func (c *Simulation) loseRegistration(p *kernel.Process, at fault.Site) error {
	if err := c.drivers.TurnRegistrar(at.Driver, at.Node, trace.Stopped); err != nil {
		return err
	}
	p.Sleep(cluster.ActionTime)
	if n, err := c.nodes.Named(at.Node); err != nil || n.Off {
		return err
	}
	return c.drivers.TurnRegistrar(at.Driver, at.Node, trace.Started)
}

// registerTwice makes the called plugin register again at a second socket, beside the existing one.
func (c *Simulation) registerTwice(_ *kernel.Process, at fault.Site) error {
	if err := c.drivers.TurnRegistrar(at.Driver, at.Node, trace.Killed); err != nil {
		return err
	}
	return c.drivers.TurnRegistrar(at.Driver, at.Node, trace.Started)
}

package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/wire"
)

// startStandIns starts the stand-ins of a driver, before its programs.
func (ds *Drivers) startStandIns(d *Driver) error {
	for i, s := range d.StandIns {
		dir := filepath.Join(ds.Dir(), "standin", fmt.Sprintf("%s-%d", d.Name, i+1))
		if err := s.Start(dir); err != nil {
			return &EnvironmentError{Doing: "start a stand-in of driver " + d.Name, Err: err}
		}
		d.standIns = append(d.standIns, s)
	}
	for _, m := range ds.ControlPlanes {
		if err := d.furnish(standin.Node{Name: ControlPlane, Machine: m}); err != nil {
			return err
		}
	}
	for _, n := range ds.Nodes.All {
		if err := d.furnish(standin.Node{Name: n.Name, Zone: n.Zone, Machine: n.Machine}); err != nil {
			return err
		}
	}
	return nil
}

// furnish prepares a machine for a driver's programs.
func (d *Driver) furnish(n standin.Node) error {
	for _, s := range d.standIns {
		if err := s.Furnish(n); err != nil {
			return &EnvironmentError{Doing: fmt.Sprintf("prepare %s for driver %s", n.Name, d.Name), Err: err}
		}
	}
	return nil
}

// StandIn returns the access of the plugin on a node, or of the controller plugin, to a
// stand-in that shows its requests; nil without a stand-in or a driver.
func (d *Driver) StandIn(node string) *standin.Access {
	if d == nil {
		return nil
	}
	for _, s := range d.standIns {
		if service, shows := s.(standin.Service); shows {
			return &standin.Access{Service: service, Machine: cmp.Or(node, ControlPlane)}
		}
	}
	return nil
}

// ServiceAt returns the access of the program that serves a socket to a stand-in that shows its
// requests; nil for none.
func (ds *Drivers) ServiceAt(s wire.Site) *standin.Access {
	return ds.Find(s.Driver).StandIn(s.Node)
}

// StopStandIns ends the stand-ins of all drivers.
func (ds *Drivers) StopStandIns() error {
	var errs []error
	for _, d := range ds.All {
		for _, s := range d.standIns {
			errs = append(errs, s.Stop())
		}
		d.standIns = nil
	}
	return errors.Join(errs...)
}

// StandInsOf returns the stand-ins of a driver.
func (ds *Drivers) StandInsOf(name string) []standin.StandIn {
	if d := ds.Find(name); d != nil {
		return d.standIns
	}
	return nil
}

// Package sidecar is what all CSI sidecars do before anything else: wait for the
// driver's socket, probe the driver, and ask who it is and what it can do.
package sidecar

import (
	"context"
	"fmt"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers"
	"github.com/csisim/csisim/drivers/contract"
	"github.com/csisim/csisim/sim/kernel"
)

// retryInterval is the pause after a driver that is not there, or not ready. A
// sidecar whose questions fail exits, and is started again by the kubelet. C-LIB-1, C-LIB-2
const retryInterval = time.Second

// Driver is what a driver says of itself; it is asked once per start. C-LIB-3
type Driver struct {
	Name                 string
	services, controller map[string]bool
}

// Serves reports a plugin capability, such as "CONTROLLER_SERVICE".
func (d Driver) Serves(service string) bool { return d.services[service] }

// Can reports a controller capability, such as "PUBLISH_UNPUBLISH_VOLUME".
func (d Driver) Can(capability string) bool { return d.controller[capability] }

// Meet asks until the driver has answered everything. The site's deadline is set
// for each call: timeout of virtual time.
func Meet(p *kernel.Process, wire *drivers.Wire, site drivers.Site, timeout time.Duration) Driver {
	for {
		if _, err := site.Machine.Lstat(site.Socket); err == nil {
			if d, err := ask(p, wire, site, timeout); err == nil {
				return d
			}
		}
		p.Idle(retryInterval)
	}
}

func ask(p *kernel.Process, wire *drivers.Wire, site drivers.Site, timeout time.Duration) (Driver, error) {
	ctx := context.Background()
	identity := func() csi.IdentityClient {
		site.Deadline = p.Elapsed() + timeout
		return csi.NewIdentityClient(wire.Conn(p, site))
	}
	d := Driver{services: map[string]bool{}, controller: map[string]bool{}}
	probe, err := identity().Probe(ctx, &csi.ProbeRequest{})
	switch {
	case err != nil:
		return d, err
	case probe.GetReady() != nil && !probe.GetReady().GetValue(): // a missing ready means ready
		return d, fmt.Errorf("driver %s is not ready", site.Driver)
	}
	info, err := identity().GetPluginInfo(ctx, &csi.GetPluginInfoRequest{})
	if err != nil {
		return d, err
	}
	d.Name = info.GetName()
	plugin, err := identity().GetPluginCapabilities(ctx, &csi.GetPluginCapabilitiesRequest{})
	if err != nil {
		return d, err
	}
	for _, c := range plugin.GetCapabilities() {
		d.services[c.GetService().GetType().String()] = true
	}
	if !d.Serves("CONTROLLER_SERVICE") {
		return d, nil
	}
	site.Deadline = p.Elapsed() + timeout
	controller, err := csi.NewControllerClient(wire.Conn(p, site)).ControllerGetCapabilities(ctx, &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return d, err
	}
	for _, c := range controller.GetCapabilities() {
		d.controller[contract.ControllerCapability(c)] = true
	}
	return d, nil
}

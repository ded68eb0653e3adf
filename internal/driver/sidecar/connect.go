// Package sidecar is the common framework of all CSI sidecars. They wait for the driver's socket,
// probe the driver, and request its name and capabilities. It also stops and restarts them.
package sidecar

import (
	"context"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/kernel"
)

const (
	// connectTimeout bounds the time that a sidecar tries to connect before it exits. C-LIB-1
	connectTimeout = 30 * time.Second
	// retryInterval is the pause between two attempts to connect, and between two
	// probes. C-LIB-1, C-LIB-2
	retryInterval = time.Second
)

// Patience bounds the virtual time for which a sidecar waits for the answers to its first requests.
type Patience struct {
	// Probe is the deadline of each Probe.
	Probe time.Duration
	// Answer is the deadline of each further request. Together makes all of them share one
	// deadline.
	Answer   time.Duration
	Together bool
}

// Driver is a driver's description of itself, requested once per start. C-LIB-3
type Driver struct {
	Name                 string
	services, controller []string
}

// Serves reports a plugin capability, such as "CONTROLLER_SERVICE".
func (d Driver) Serves(service string) bool { return slices.Contains(d.services, service) }

// Can reports a controller capability, such as "PUBLISH_UNPUBLISH_VOLUME".
func (d Driver) Can(capability string) bool { return slices.Contains(d.controller, capability) }

// connector connects a sidecar to its driver, and reads the name and the capabilities of the
// driver.
type connector struct {
	process  *kernel.Process
	wire     *wire.Wire
	site     wire.Site
	patience Patience
}

// connect retries until the driver is ready and has answered everything. The program exits with its
// error. C-LIB-2
func (c *connector) connect() (Driver, error) {
	var d Driver
	if err := c.probeForEver(); err != nil {
		return d, err
	}
	deadline := c.process.Elapsed() + c.patience.Answer
	ask := func() {
		c.site.Deadline = deadline
		if !c.patience.Together {
			c.site.Deadline = c.process.Elapsed() + c.patience.Answer
		}
	}
	ask()
	info, err := c.identity().GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{})
	if err != nil {
		return d, err
	}
	d.Name = info.GetName()
	ask()
	plugin, err := c.identity().GetPluginCapabilities(context.Background(), &csi.GetPluginCapabilitiesRequest{})
	if err != nil {
		return d, err
	}
	for _, c := range plugin.GetCapabilities() {
		d.services = append(d.services, c.GetService().GetType().String())
	}
	if !d.Serves("CONTROLLER_SERVICE") {
		return d, nil
	}
	ask()
	controller, err := csi.NewControllerClient(c.wire.Conn(c.process, c.site)).ControllerGetCapabilities(context.Background(), &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return d, err
	}
	for _, c := range controller.GetCapabilities() {
		d.controller = append(d.controller, contract.ControllerCapability(c))
	}
	return d, nil
}

func (c *connector) identity() csi.IdentityClient {
	return csi.NewIdentityClient(c.wire.Conn(c.process, c.site))
}

// probeForEver probes every second until the driver is ready, even if it does not answer in time.
// Before that it waits for the socket to be served. C-LIB-1, C-LIB-2
func (c *connector) probeForEver() error {
	began := c.process.Elapsed()
	connected := false
	for next := began; ; {
		ready, err := c.probe()
		switch {
		case wire.NobodyListens(err) && !connected && c.process.Elapsed() < began+connectTimeout:
		case err != nil && status.Code(err) != codes.DeadlineExceeded:
			return err
		case ready:
			return nil
		default:
			connected = true
		}
		next += retryInterval // a ticker, which keeps one tick
		if now := c.process.Elapsed(); next < now {
			next = now - (now-began)%retryInterval
			continue
		}
		c.process.Idle(next - c.process.Elapsed())
	}
}

// probe treats an answer without readiness as ready. C-LIB-2
func (c *connector) probe() (ready bool, err error) {
	if _, err := c.site.Machine.Lstat(c.site.Socket); err != nil {
		return false, status.Errorf(codes.Unavailable, "connection error: %v", err)
	}
	c.site.Deadline = c.process.Elapsed() + c.patience.Probe
	answer, err := c.identity().Probe(context.Background(), &csi.ProbeRequest{})
	return err == nil && (answer.GetReady() == nil || answer.GetReady().GetValue()), err
}

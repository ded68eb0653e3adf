// Package sidecar is the common frame of all CSI sidecars: they wait for the driver's socket, probe
// the driver, and request its name and capabilities. It also ends and restarts them.
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
	// connectTimeout is for how long a sidecar tries to connect before it exits. C-LIB-1
	connectTimeout = 30 * time.Second
	// retryInterval is the pause between two attempts to connect, and between two
	// probes. C-LIB-1, C-LIB-2
	retryInterval = time.Second
)

// Patience is for how long a sidecar waits for the answers to its first questions, in
// virtual time.
type Patience struct {
	// Probe is the deadline of each Probe.
	Probe time.Duration
	// Answer is the deadline of each further question; Together has all of them share
	// one.
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

// meeting is a sidecar that gets to know its driver.
type meeting struct {
	process  *kernel.Process
	wire     *wire.Wire
	site     wire.Site
	patience Patience
}

// meet retries until the driver is ready and has answered everything. The program exits with its
// error. C-LIB-2
func (m *meeting) meet() (Driver, error) {
	var d Driver
	if err := m.probeForEver(); err != nil {
		return d, err
	}
	deadline := m.process.Elapsed() + m.patience.Answer
	ask := func() {
		m.site.Deadline = deadline
		if !m.patience.Together {
			m.site.Deadline = m.process.Elapsed() + m.patience.Answer
		}
	}
	ask()
	info, err := m.identity().GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{})
	if err != nil {
		return d, err
	}
	d.Name = info.GetName()
	ask()
	plugin, err := m.identity().GetPluginCapabilities(context.Background(), &csi.GetPluginCapabilitiesRequest{})
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
	controller, err := csi.NewControllerClient(m.wire.Conn(m.process, m.site)).ControllerGetCapabilities(context.Background(), &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return d, err
	}
	for _, c := range controller.GetCapabilities() {
		d.controller = append(d.controller, contract.ControllerCapability(c))
	}
	return d, nil
}

func (m *meeting) identity() csi.IdentityClient {
	return csi.NewIdentityClient(m.wire.Conn(m.process, m.site))
}

// probeForEver probes, every second, until the driver is ready, also if it does not answer in time.
// Before that it waits for the socket to be served. C-LIB-1, C-LIB-2
func (m *meeting) probeForEver() error {
	began := m.process.Elapsed()
	connected := false
	for next := began; ; {
		ready, err := m.probe()
		switch {
		case wire.NobodyListens(err) && !connected && m.process.Elapsed() < began+connectTimeout:
		case err != nil && status.Code(err) != codes.DeadlineExceeded:
			return err
		case ready:
			return nil
		default:
			connected = true
		}
		next += retryInterval // a ticker, which keeps one tick
		if now := m.process.Elapsed(); next < now {
			next = now - (now-began)%retryInterval
			continue
		}
		m.process.Idle(next - m.process.Elapsed())
	}
}

// probe: an answer that does not say whether the driver is ready means that it is. C-LIB-2
func (m *meeting) probe() (ready bool, err error) {
	if _, err := m.site.Machine.Lstat(m.site.Socket); err != nil {
		return false, status.Errorf(codes.Unavailable, "connection error: %v", err)
	}
	m.site.Deadline = m.process.Elapsed() + m.patience.Probe
	answer, err := m.identity().Probe(context.Background(), &csi.ProbeRequest{})
	return err == nil && (answer.GetReady() == nil || answer.GetReady().GetValue()), err
}

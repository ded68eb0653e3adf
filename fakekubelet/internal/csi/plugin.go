// Package csi is the kubelet's in-process volume plugin for CSI. It turns the volume manager's
// operations into files on the node and calls of the driver.
package csi

import (
	"context"
	"fmt"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/fakekubelet/internal/token"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// Timeout is the deadline of a whole step: capability probes and the call. K-RPC-4
const Timeout = 2 * time.Minute

// background is the context of all calls. Deadlines are virtual, so the wire's site carries them.
var background = context.Background()

// Drivers is the map of registered drivers. K-RPC-10
type Drivers interface {
	// Endpoint is the driver's socket, as a path on the node.
	Endpoint(driver string) (socket string, ok bool)
}

// Options are the options of a plugin.
type Options struct {
	Machine machine.Machine
	Wire    *wire.Wire
	Drivers Drivers
	// ChownTime is the virtual time for changing the group of one file to a pod's fsGroup. Default:
	// 0.
	ChownTime time.Duration
}

// Plugin is the volume plugin of one kubelet.
type Plugin struct {
	Dir
	kubelet   *component.Component
	machine   machine.Machine
	wire      *wire.Wire
	drivers   Drivers
	tokens    *token.Manager
	chownTime time.Duration
}

// New returns the plugin of a kubelet.
func New(kubelet *component.Component, o Options) *Plugin {
	return &Plugin{
		Dir:     Dir(o.Machine.Layout().KubeletDir()),
		kubelet: kubelet, machine: o.Machine, wire: o.Wire, drivers: o.Drivers,
		tokens: token.New(kubelet), chownTime: o.ChownTime,
	}
}

// step is one operation on a driver. Its calls share one deadline.
type step struct {
	*Plugin
	process *kernel.Process
	driver  string
	node    csi.NodeClient
}

// begin looks the driver up, like every step. K-RPC-10
func (pl *Plugin) begin(p *kernel.Process, spec *Spec) (*step, error) {
	return pl.beginWith(p, spec.Driver(), spec.Migrated)
}

// beginUnaware is begin for steps without the information whether the volume belongs to an in-tree
// plugin: steps that undo, SetUpDevice and statistics. K-MET-3, K-MIG-2
func (pl *Plugin) beginUnaware(p *kernel.Process, driver string) (*step, error) {
	return pl.beginWith(p, driver, false)
}

func (pl *Plugin) beginWith(p *kernel.Process, driver string, migrated bool) (*step, error) {
	socket, ok := pl.drivers.Endpoint(driver)
	if !ok {
		return nil, fmt.Errorf("driver name %s not found in the list of registered CSI drivers", driver)
	}
	conn := pl.wire.Conn(p, wire.Site{
		Caller: "kubelet", Driver: driver, Node: pl.kubelet.Node, Machine: pl.machine, Socket: socket,
		Deadline: p.Elapsed() + Timeout,
	})
	return &step{Plugin: pl, process: p, driver: driver, node: csi.NewNodeClient(Measured(conn, pl.kubelet, driver, migrated))}, nil
}

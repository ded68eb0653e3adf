package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// Plugin is a controller plugin or a node plugin of a driver.
type Plugin struct {
	Driver *Driver
	Node   string // empty for the controller
	// The number of this replica of a controller plugin, from 1; 0 for the only one.
	Replica int
	Name    string // name of a further plugin of the node; empty for the driver's own
	Machine machine.Machine
	Socket  string // as the machine sees it
	Addons  string // where it serves CSI-Addons; usually Socket
	Backend Backend
	Version string // the release that it runs; empty for the release that was installed first
	Running bool
	Began   time.Duration // time of its last start

	id        string               // the CSI node id of a further plugin; empty for the driver's
	next      string               // the release of its next pod; empty for the present one
	renewed   bool                 // its pod is new, but its sidecars still belong to the old pod
	comesBack bool                 // the plugin starts again when its node has power again
	refused   registrar.Refused    // reaction of its registrar if the kubelet refuses the driver
	registry  string               // directory below plugins_registry; empty for plugins_registry
	registrar *registrar.Registrar // nil for the controller, or if it is external
	interrupt context.Context      // its end ends waits in wall time
	orders    int                  // number of requested starts and ends
	loop      crashLoop
	elapsed   func() time.Duration // virtual time since the run began
	beside    []*Controller        // its sidecars, except its registrar
	prober    *kernel.Group        // the kubelet's livenessProbe; nil for none
	line      *line                // nil before the first request
}

// Backend starts and ends one plugin.
type Backend interface {
	Start() error
	// Kill ends it like SIGKILL: the socket file stays.
	Kill() error
	// Stop ends it like SIGTERM: it removes its socket.
	Stop() error
	// LostPower ends it when its node loses power. All mounts are lost, too.
	LostPower()
}

func (p *Plugin) start() error {
	p.orders++
	if p.Running {
		return nil
	}
	if err := p.Backend.Start(); err != nil {
		return err
	}
	p.Running = true
	p.Began = p.elapsed()
	return nil
}

func (p *Plugin) kill() error {
	p.orders++
	p.hangUp()
	if !p.Running {
		return nil
	}
	p.Running = false
	return p.Backend.Kill()
}

func (p *Plugin) stop() error {
	p.orders++
	p.hangUp()
	if !p.Running {
		return nil
	}
	p.Running = false
	return p.Backend.Stop()
}

// String names the instance in messages.
func (p *Plugin) String() string {
	if p.Driver.Cluster != "" {
		return p.inCluster() + " in " + p.Driver.Cluster
	}
	return p.inCluster()
}

func (p *Plugin) inCluster() string {
	// The name is unknown before the first request.
	driver := strings.TrimSpace("driver " + p.Driver.Name)
	switch {
	case p.Node == "" && p.Replica > 0:
		return fmt.Sprintf("%s, controller %d", driver, p.Replica)
	case p.Node == "":
		return driver + ", controller"
	case p.Name != "":
		return fmt.Sprintf("%s on %s, plugin %s", driver, p.Node, p.Name)
	}
	return driver + " on " + p.Node
}

// servesAt reports whether calls of a site are to the plugin.
func (p *Plugin) servesAt(at wire.Site) bool {
	return p.Machine == at.Machine && (p.Socket == at.Socket || p.Addons == at.Socket)
}

// NodeID returns the CSI node id that the plugin gets.
func (p *Plugin) NodeID() string { return cmp.Or(p.id, p.Driver.NodeID(p.Node)) }

// release returns the name of the release that a plugin runs.
func (p *Plugin) release() string { return cmp.Or(p.Version, p.Driver.first()) }

// nextRelease returns the release after the one that a plugin runs.
func (p *Plugin) nextRelease() string {
	all := append([]string{p.Driver.first()}, p.Driver.Versions...)
	return all[(slices.Index(all, p.release())+1)%len(all)]
}

// podName returns the name of a controller plugin's pod, by which a leader is known.
func (p *Plugin) podName() string {
	return fmt.Sprintf("%s-controller-%d", p.Driver.Name, cmp.Or(p.Replica, 1))
}

// rename sets the node id for the next start of the plugin.
func (p *Plugin) rename(id string) {
	if p.Name != "" {
		p.id = id
		return
	}
	ids := maps.Clone(p.Driver.NodeIDs)
	if ids == nil {
		ids = map[string]string{}
	}
	ids[p.Node] = id
	p.Driver.NodeIDs = ids
}

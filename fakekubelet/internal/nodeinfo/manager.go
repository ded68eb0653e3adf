// Package nodeinfo publishes a kubelet's information about the CSI drivers of its node: the CSINode
// object, and the annotation and topology labels of the Node.
package nodeinfo

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// Manager is the node-info manager of one kubelet.
type Manager struct {
	kubelet   *component.Component
	migration migration.Plugins
	record    record
	nodeUID   types.UID // unknown until the record is initialised
	early     bool      // the record is made when the kubelet starts
	writing   mutex
	notReady  string
	onChange  []func()
	limits    limits
}

// record is the object in which a kubelet reports the drivers of its node. Each method except kind
// makes one try.
type record interface {
	// kind names the object in errors.
	kind() string
	// probe requests the object from the API server, and ignores the answer.
	probe(p *kernel.Process) error
	// initialize makes sure that the object exists.
	initialize(p *kernel.Process) error
	// add publishes a driver, remove withdraws it.
	add(p *kernel.Process, d Driver) error
	remove(p *kernel.Process, driver string) error
}

// Start follows the CSIDrivers' refresh periods and, unless the kubelet is too old,
// begins the initialisation of the CSINode.
func Start(c *component.Component, plugins migration.Plugins) *Manager {
	m := &Manager{kubelet: c, migration: plugins}
	m.limits = limits{refresh: map[string]Refresh{}, tickers: map[string]*ticker{}}
	m.record = csiNode{m}
	if !c.Version.Has(version.CSINode) {
		m.record = csiNodeInfo{m}
	}
	if m.early = c.Version.Has(version.CSINodeAtStartup) || c.Legacy.CreateOnStartup; m.early {
		m.notReady = m.record.kind() + " is not yet initialized"
		c.Go("csinode-init", m.initialize)
	}
	c.Go("csidriver-watch", m.followPeriods)
	return m
}

// NotReady returns the reason why the CSINode makes the kubelet's Ready condition False. It is
// empty once the CSINode is initialised. K-NODE-1
func (m *Manager) NotReady() string { return m.notReady }

// OnChange registers f to be called whenever NotReady changes. f must not yield.
func (m *Manager) OnChange(f func()) { m.onChange = append(m.onChange, f) }

func (m *Manager) setNotReady(why string) {
	if m.notReady == why {
		return
	}
	m.notReady = why
	for _, f := range m.onChange {
		f()
	}
}

// key names this node's Node and CSINode.
func (m *Manager) key() store.Key { return store.Key{Name: m.kubelet.Node} }

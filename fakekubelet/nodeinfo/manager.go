// Package nodeinfo publishes what a kubelet knows about the CSI drivers of its
// node: the CSINode object, and the annotation and topology labels of the Node.
package nodeinfo

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
)

// Manager is the node-info manager of one kubelet.
type Manager struct {
	kubelet  *component.Component
	nodeUID  types.UID // unknown until the CSINode is initialised
	writing  mutex
	notReady string
	onChange []func()
	limits   limits
}

// Start begins the initialisation of the CSINode and follows the CSIDrivers'
// refresh periods.
func Start(c *component.Component) *Manager {
	m := &Manager{kubelet: c, notReady: "CSINode is not yet initialized"}
	m.limits = limits{refresh: map[string]Refresh{}, tickers: map[string]*ticker{}}
	c.Go("csinode-init", m.initialize)
	c.Go("csidriver-watch", m.followPeriods)
	return m
}

// NotReady is why the kubelet's Ready condition must be False on account of the
// CSINode; empty once it is initialised. K-NODE-1
func (m *Manager) NotReady() string { return m.notReady }

// OnChange registers f to be called whenever NotReady changes. f must not give way.
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

// mutex lets one process at a time read and write back. K-NODE-6
type mutex struct {
	held    bool
	waiting []*kernel.Process
}

func (x *mutex) lock(p *kernel.Process) {
	for x.held {
		x.waiting = append(x.waiting, p)
		p.Park("its turn to update the node's objects")
	}
	x.held = true
}

func (x *mutex) unlock() {
	x.held = false
	waiting := x.waiting
	x.waiting = nil
	for _, p := range waiting {
		p.Wake()
	}
}

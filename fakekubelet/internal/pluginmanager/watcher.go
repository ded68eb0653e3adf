package pluginmanager

import (
	"fmt"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/machine"
)

// watch keeps the desired state up to date. K-REG-2
func (m *Manager) watch() (stop func(), err error) {
	if err := m.machine.MkdirAll(m.registryDir(), 0o755); err != nil {
		return nil, fmt.Errorf("make the plugins' directory: %w", err)
	}
	if wire.InProcess(m.machine) {
		return m.machine.Watch(m.registryDir(), m.see)
	}
	// Events of a disk may arrive on other threads.
	name := m.kubelet.Named("sockets of " + m.machine.Name())
	return m.machine.Watch(m.registryDir(), func(e machine.Event) {
		m.kubelet.Kernel.Arrive(name, func() { m.see(e) })
	})
}

// see processes one event. K-REG-3, K-REG-4, K-PATH-11
func (m *Manager) see(e machine.Event) {
	switch {
	case e.Op == machine.Removed:
		delete(m.desired, e.Path)
		delete(m.attempts, e.Path)
	case e.IsSocket && !strings.HasPrefix(path.Base(e.Path), "."):
		m.creations++
		m.desired[e.Path] = m.creations
	default:
		return
	}
	m.reconciler.Wake()
	if p := m.dialling[e.Path]; p != nil {
		p.Wake()
	}
}

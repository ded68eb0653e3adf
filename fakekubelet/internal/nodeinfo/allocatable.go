package nodeinfo

import (
	"time"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// Refresh requests a driver's limit again and publishes it.
type Refresh func(*kernel.Process) error

// limits are the registered drivers, and the tickers of drivers with periodically refreshed limits.
type limits struct {
	refresh map[string]Refresh
	tickers map[string]*ticker
}

// Registered records that a driver has been registered. refresh is called with the period in its
// CSIDriver, if there is one. K-ALLOC-2
func (m *Manager) Registered(driver string, refresh Refresh) {
	m.limits.refresh[driver] = refresh
	m.restartTicker(driver)
}

// Unregistered notes that a driver was unregistered. A refresh in progress continues. K-RACE-8
func (m *Manager) Unregistered(driver string) {
	delete(m.limits.refresh, driver)
	m.restartTicker(driver)
}

// followPeriods restarts tickers when CSIDriver objects are created, deleted or change their
// period. K-ALLOC-2
func (m *Manager) followPeriods(p *kernel.Process) {
	csiDrivers := component.Watch[*storagev1.CSIDriver](m.kubelet, p)
	var follow func(*kernel.Process)
	follow = func(p *kernel.Process) {
		for event, ok := csiDrivers.Next(); ok; event, ok = csiDrivers.Next() {
			if changesTicker(event) {
				m.restartTicker(event.Object.Name)
			}
		}
		p.React("changes of CSIDriver objects", follow)
	}
	follow(p)
}

// changesTicker reports whether a change of a CSIDriver concerns its ticker. A missed deletion is
// ignored, and the ticker continues. K-RACE-10
func changesTicker(e store.Event[*storagev1.CSIDriver]) bool {
	switch e.Type {
	case store.Modified:
		return period(e.Old) != period(e.Object)
	case store.Deleted:
		return !e.FinalStateUnknown
	}
	return true
}

func period(d *storagev1.CSIDriver) time.Duration {
	if d.Spec.NodeAllocatableUpdatePeriodSeconds == nil {
		return 0
	}
	return time.Duration(*d.Spec.NodeAllocatableUpdatePeriodSeconds) * time.Second
}

// restartTicker replaces the driver's ticker if necessary, which restarts its phase. K-ALLOC-2
func (m *Manager) restartTicker(driver string) {
	if old := m.limits.tickers[driver]; old != nil {
		old.stop()
		delete(m.limits.tickers, driver)
	}
	refresh := m.limits.refresh[driver]
	object, ok := volume.CSIDriver(m.kubelet, driver)
	if refresh == nil || !ok || period(object) == 0 {
		return
	}
	t := &ticker{period: period(object), refresh: refresh}
	t.process = m.kubelet.Go("allocatable "+driver, t.run)
	m.limits.tickers[driver] = t
}

// ticker refreshes the limit of one driver.
type ticker struct {
	period  time.Duration
	refresh Refresh
	process *kernel.Process
	stopped bool
}

func (t *ticker) stop() {
	t.stopped = true
	t.process.Wake()
}

// run refreshes after every full period. If several ticks occur during a refresh, one is delivered
// later and the others are lost.
func (t *ticker) run(p *kernel.Process) {
	for next := p.Elapsed() + t.period; ; next += t.period {
		for next+t.period <= p.Elapsed() {
			next += t.period
		}
		for !t.stopped && p.IdleUntil("the next refresh of the attach limit", next) {
		}
		if t.stopped {
			return
		}
		_ = t.refresh(p) // K-ALLOC-1: failures are logged only
	}
}

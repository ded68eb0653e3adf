package sim

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/ledger"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// showsMounts reports whether a machine has mounts that programs can take off.
func (c *Simulation) showsMounts(m machine.Machine) bool {
	return c.work != nil && !wire.InProcess(m)
}

// watchMounts looks whether a machine's mounts went that nobody was to take off.
func (c *Simulation) watchMounts(m machine.Machine) {
	now, changed := c.mountsNow(m)
	if !changed {
		return
	}
	byKubelet := func(target string, after uint64) bool { return c.kubeletUnmounted(m.Name(), target, after) }
	for _, u := range c.unmounts.Saw(m.Name(), c.viewOf(m, now), byKubelet) {
		text := c.Wire.Renamed(u.On(m.Name()))
		c.unmounted = append(c.unmounted, text)
		e := trace.Entry{Kind: trace.Unmounted, Node: m.Name(), Name: c.Wire.Renamed(u.Target), Message: text}
		if len(u.Calls) == 1 {
			e.Driver, e.Method = u.Calls[0].Driver, u.Calls[0].Method
		}
		c.World.Trace.Add(e)
	}
}

// resetMounts takes notice of a machine's mounts when others than drivers may have
// taken some off.
func (c *Simulation) resetMounts(m machine.Machine) {
	if !c.showsMounts(m) {
		return
	}
	if now, changed := c.mountsNow(m); changed {
		c.unmounts.Reset(m.Name(), c.viewOf(m, now))
	}
}

// machineMounts is what a machine reports of its mounts: the same slices as long as
// nothing changes.
type machineMounts struct {
	mounts  []machine.Mount
	missing []machine.Missing
}

// mountsNow are a machine's mounts, and whether they are others than the last time. A
// machine that does not know shows nothing.
func (c *Simulation) mountsNow(m machine.Machine) (now machineMounts, changed bool) {
	mounts, err := m.Mounts()
	if err != nil {
		return now, false
	}
	missing, err := m.Missing()
	if err != nil {
		return now, false
	}
	now = machineMounts{mounts, missing}
	before := c.watched[m.Name()]
	c.watched[m.Name()] = now
	return now, !isSame(mounts, before.mounts) || !isSame(missing, before.missing)
}

func (c *Simulation) viewOf(m machine.Machine, now machineMounts) ledger.View {
	view := ledger.View{Last: c.World.Trace.Last()}
	for _, mount := range now.mounts {
		if strings.HasPrefix(mount.Target, machine.KubeletDir+"/") {
			view.Mounts = append(view.Mounts, mount.Target)
		}
	}
	for _, one := range now.missing {
		view.Missing = append(view.Missing, ledger.Missing{Target: one.Target, Driver: c.driverOf(m, one.PID)})
	}
	return view
}

// driverOf is the driver whose program a process of a machine is, empty if it is none's.
func (c *Simulation) driverOf(m machine.Machine, pid int) string {
	for _, d := range c.drivers {
		for _, p := range c.plugins(d) {
			if b, ok := p.backend.(*programBackend); ok && p.running && p.machine == m && b.program.PID() == pid {
				return d.Name
			}
		}
	}
	return ""
}

func (c *Simulation) kubeletUnmounted(node, target string, after uint64) bool {
	for _, e := range slices.Backward(c.World.Trace.Events()) {
		switch {
		case e.Seq <= after:
			return false
		case e.Kind == trace.FileChange && e.Node == node && e.Name == target && e.Method == "unmount":
			return true
		}
	}
	return false
}

// Unmounted are the mounts that drivers took off although they were not their own,
// each in one line.
func (c *Simulation) Unmounted() []string { return c.unmounted }

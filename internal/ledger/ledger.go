package sim

import (
	"slices"

	"github.com/csisim/csisim/internal/world/ledger"
)

// Ledger is what exists although no pod, claim, volume or attachment accounts for it.
type Ledger struct {
	// Leaks are what somebody failed to take away.
	Leaks []ledger.Entry
	// Litter is what Kubernetes itself leaves behind, whatever a driver does, and
	// what nobody could take away yet.
	Litter []ledger.Entry
	// Unseen says what could not be looked at, and why.
	Unseen []string
}

// Ledger looks, at this point, for what should not exist any more: mounts and
// directories and processes on nodes, loop devices, VolumeAttachments, and what
// drivers keep in their backends. It costs no virtual time and leaves no trace.
func (c *Simulation) Ledger() Ledger {
	a := &accountant{Simulation: c, history: ledger.Read(c.World.Trace.Events()), needs: c.needs()}
	for _, n := range c.nodes {
		c.see(n.machine, nil)
		a.mounts(n.machine, n)
		a.directories(n)
		a.strays(n.machine)
	}
	for _, m := range c.controlPlanes() {
		c.see(m, nil)
		a.mounts(m, nil)
		a.strays(m)
	}
	a.loops()
	a.attachments()
	for _, d := range c.drivers {
		a.backend(d)
	}
	slices.SortStableFunc(a.found.Leaks, byBlame)
	return a.found
}

// byBlame puts first what a call did not take away: that a call never came may
// follow from it.
func byBlame(x, y ledger.Entry) int {
	never := func(e ledger.Entry) int {
		if e.Undone == nil {
			return 1
		}
		return 0
	}
	return never(x) - never(y)
}

// Leftovers are the leaks of the ledger.
func (c *Simulation) Leftovers() []ledger.Entry { return c.Ledger().Leaks }

// accountant makes a ledger.
type accountant struct {
	*Simulation
	history *ledger.History
	needs   needs
	found   Ledger
}

// add enters an entry where it belongs.
func (a *accountant) add(e ledger.Entry) {
	e.Name, e.Detail = a.Wire.Renamed(e.Name), a.Wire.Renamed(e.Detail)
	if e.Litter != "" {
		a.found.Litter = append(a.found.Litter, e)
	} else {
		a.found.Leaks = append(a.found.Leaks, e)
	}
}

// unseen notes what could not be looked at, once.
func (a *accountant) unseen(what string, err error) {
	if note := what + ": " + err.Error(); !slices.Contains(a.found.Unseen, note) {
		a.found.Unseen = append(a.found.Unseen, note)
	}
}

package testcluster

import (
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Meddler is a strategy under which somebody else acts just before a controller does
// what it names: "update", "list pods". Everything else is calm.
type Meddler struct{ Before string }

// MeddlerName is who acts in traces.
const MeddlerName = "somebody"

// Meddle has somebody act so many times, each time before the controller does.
func Meddle(k *kernel.Kernel, times int, act func()) {
	k.Spawn(nil, MeddlerName, func(p *kernel.Process) {
		for range times {
			act()
			p.Yield("meddle")
		}
	})
}

// Choose lets somebody run when the time has come, and otherwise only when nobody else
// can.
func (m Meddler) Choose(c kernel.Choice) int {
	switch {
	case c.Kind == kernel.RunNext:
		return max(0, slices.IndexFunc(c.Processes, func(p *kernel.Process) bool { return !isMeddler(p) }))
	case c.Kind == kernel.GiveWay && isMeddler(c.Processes[0]):
		return 1
	case c.Kind == kernel.GiveWay && c.Label == m.Before:
		return max(0, slices.IndexFunc(c.Processes, isMeddler))
	}
	return 0
}

func (Meddler) String() string { return "meddler" }

func isMeddler(p *kernel.Process) bool { return p.Name() == MeddlerName }

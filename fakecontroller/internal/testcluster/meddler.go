package testcluster

import (
	"github.com/csisim/csisim/internal/world/kernel"
)

// Meddler is a strategy that runs a meddler just before a named action of a controller: "update",
// "list pods". All other choices are calm.
type Meddler struct{ Before string }

// MeddlerName is the meddler's name in traces.
const MeddlerName = "somebody"

// Meddle runs a meddler the given number of times, each time before the controller's action.
func Meddle(k *kernel.Kernel, times int, act func()) {
	k.Spawn(nil, MeddlerName, func(p *kernel.Process) {
		for range times {
			act()
			p.Yield("meddle")
		}
	})
}

// Choose runs the meddler at the label Before. Otherwise it runs the meddler only if no other
// process can run.
func (m Meddler) Choose(c kernel.Choice) int {
	switch {
	case c.Kind == kernel.RunNext:
		return first(c, func(p *kernel.Process) bool { return !isMeddler(p) })
	case c.Kind == kernel.GiveWay && isMeddler(c.Process(0)):
		return 1
	case c.Kind == kernel.GiveWay && c.Label == m.Before:
		return first(c, isMeddler)
	}
	return 0
}

// first returns the index of the first alternative with a process that the function accepts; 0 if
// there is none.
func first(c kernel.Choice, is func(*kernel.Process) bool) int {
	for i := range c.N {
		if is(c.Process(i)) {
			return i
		}
	}
	return 0
}

func (Meddler) String() string { return "meddler" }

func isMeddler(p *kernel.Process) bool { return p.Name() == MeddlerName }

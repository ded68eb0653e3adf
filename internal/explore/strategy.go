package explore

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Strategies returns the names of the strategies of a search, the default one first.
func Strategies() []string { return []string{"pct", Guided, swarm, "random", Exhaustive} }

const (
	// Guided adds faults to runs that reached a new state. It has the seeds of pct.
	Guided = "guided"
	// swarm is pct with a random subset of the faults in each run (Groce et al., ISSTA 2012).
	swarm = "swarm"
)

// newStrategy returns the strategy of a name for one run.
func newStrategy(name string, seed uint64, calm known, budget int) kernel.Strategy {
	switch name {
	case "random":
		return newRandom(seed, calm, budget)
	case swarm:
		s := newPCT(seed, calm, budget)
		s.faults.absent = seed
		return s
	}
	return newPCT(seed, calm, budget)
}

// random draws every decision, except faults, which happen at few points.
type random struct {
	*kernel.Random
	faults faultPoints
}

func newRandom(seed uint64, calm known, budget int) *random {
	c := newChance(seed)
	return &random{Random: c.Random, faults: newFaultPoints(c, calm, budget)}
}

// Choose draws the decision.
func (r *random) Choose(c kernel.Choice) int {
	if isFault(c) {
		return r.faults.choose(c)
	}
	return r.Random.Choose(c)
}

// mostChanges bounds the number of change points of a run, which is at least one.
const mostChanges = 5

// oddness is the number of calm decisions per random decision about delays, stale views and others.
const oddness = 8

// pct gives each process a priority when it first occurs, and runs the one with the highest
// priority. At a few points it puts the current process behind all others: most ordering errors
// need few preemptions at the right places (Burckhardt et al., ASPLOS 2010).
type pct struct {
	seed       uint64
	chance     chance
	priorities []int // by process; negative after a change, missing before the first occurrence
	changes    []int // the steps of the remaining changes, in order
	lowest     int
	step       int
	faults     faultPoints
}

func newPCT(seed uint64, calm known, budget int) *pct {
	c := newChance(seed)
	return &pct{
		seed: seed, chance: c, priorities: make([]int, 0, 256), // enough for a short run
		changes: slices.Sorted(maps.Keys(c.points(1+c.below(mostChanges), calm.Order))), faults: newFaultPoints(c, calm, budget),
	}
}

func (s *pct) String() string { return fmt.Sprintf("pct, seed %d", s.seed) }

// Choose decides by priority.
func (s *pct) Choose(c kernel.Choice) int {
	switch {
	case isFault(c):
		return s.faults.choose(c)
	case c.OrdersProcesses():
		return s.order(&c)
	case s.chance.below(oddness) == 0:
		return s.chance.below(c.N)
	}
	return 0
}

func (s *pct) order(c *kernel.Choice) int {
	best := s.highest(c)
	if len(s.changes) > 0 && s.changes[0] == s.step {
		s.changes = s.changes[1:]
		s.lowest--
		s.priorities[c.Process(best).ID()] = s.lowest
		best = s.highest(c)
	}
	s.step++
	return best
}

func (s *pct) highest(c *kernel.Choice) int {
	best, most, next := 0, none, 0
	asks, ready := c.Processes()
	if asks != nil {
		most, next = s.priority(asks.ID()), 1
	}
	for i, p := range ready {
		priority, id := none, p.ID()
		if id < len(s.priorities) {
			priority = s.priorities[id]
		}
		if priority == none { // it is new
			priority = s.priority(id)
		}
		if priority > most {
			best, most = next+i, priority
		}
	}
	return best
}

// none is no priority.
const none = math.MinInt

// spread is the number of priorities.
const spread = 1 << 30

// priority returns the priority of a process, which is drawn when the process first occurs.
func (s *pct) priority(process int) int {
	for process >= len(s.priorities) {
		s.priorities = append(s.priorities, none)
	}
	if s.priorities[process] == none {
		s.priorities[process] = s.chance.below(spread)
	}
	return s.priorities[process]
}

package explore

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/csisim/csisim/internal/world/kernel"
)

// generation is the number of runs that are chosen at once from the results of earlier ones. The
// runs are therefore independent of the number of workers.
const generation = 32

// attempts bounds the random draws for a fault that no run has had.
const attempts = 16

// guide keeps the runs that reached a new state, and creates each further run by adding faults to
// one of these runs. This finds failures that need two faults if the first fault leads to something
// new.
type guide struct {
	first  uint64 // run of the first generation
	budget int
	calm   map[Choice]bool // the points that the calm run also has
	chance chance

	mu      sync.Mutex
	learnt  *sync.Cond
	done    uint64 // runs that are learnt
	drawn   uint64 // generations
	current []mutation
	states  map[string]bool
	tried   map[Choice]bool // faults that were drawn, by their loose names
	kept    []keptRun
}

// keptRun is a run that reached a new state, and the points at which faults can be added.
type keptRun struct {
	mutation
	points, novel []point // novel are the points that the calm run does not have
}

// mutation is a guided run: its faults, and either the calm order or an order with stale views from
// a seed.
type mutation struct {
	Choices []Choice
	Order   uint64 // 0 is the calm one
}

// orderKind is the kind of the choice that stores the order of a run in a corpus.
const orderKind = "order"

// all returns the choices including the order, as in corpora.
func (m mutation) all() []Choice {
	if m.Order == 0 {
		return m.Choices
	}
	return append([]Choice{{Kind: orderKind, Nth: 1, Takes: strconv.FormatUint(m.Order, 10)}}, m.Choices...)
}

// mutationOf reads a mutation from a corpus.
func mutationOf(all []Choice) (m mutation) {
	for _, c := range all {
		if order, err := strconv.ParseUint(c.Takes, 10, 64); c.Kind == orderKind && err == nil {
			m.Order = order
		} else {
			m.Choices = append(m.Choices, c)
		}
	}
	return m
}

func newGuide(first uint64, seed uint64, o Options, calm known) *guide {
	g := &guide{first: first, budget: o.Budget, calm: map[Choice]bool{}, chance: newChance(seed), states: map[string]bool{}, tried: map[Choice]bool{}}
	g.learnt = sync.NewCond(&g.mu)
	for _, p := range slices.Concat(calm.Calls, calm.Writes) {
		g.calm[p.Choice] = true
	}
	g.keep(mutation{}, slices.Concat(calm.Calls, calm.Writes))
	return g
}

// of returns the choices of a run. It waits until the results of all previous generations are
// known, or returns nothing if ctx ends first.
func (g *guide) of(ctx context.Context, run uint64) mutation {
	defer wakeAtEnd(ctx, g.learnt)()
	g.mu.Lock()
	defer g.mu.Unlock()
	at := run - g.first
	for ctx.Err() == nil && g.done < g.first+at/generation*generation {
		g.learnt.Wait()
	}
	if ctx.Err() != nil {
		return mutation{}
	}
	if g.drawn == at/generation {
		g.drawn++
		g.current = nil
		for range generation {
			g.current = append(g.current, g.draw())
		}
	}
	return g.current[at%generation]
}

// wakeAtEnd wakes the waiting goroutines when ctx ends, including a goroutine that has checked ctx
// but does not wait yet.
func wakeAtEnd(ctx context.Context, waiting *sync.Cond) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		waiting.L.Lock()
		defer waiting.L.Unlock()
		waiting.Broadcast()
	})
}

// learn processes the result of a run; it is called in the order of the runs.
func (g *guide) learn(m mutation, points []point, states []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.done++
	g.learnt.Broadcast()
	isNew := false
	for _, s := range states {
		isNew = isNew || !g.states[s]
		g.states[s] = true
	}
	if isNew && len(points) > 0 {
		g.keep(m, points)
	}
}

// choices returns the choices of the runs that were kept, except the calm one.
func (g *guide) choices() (all [][]Choice) {
	for _, k := range g.kept {
		if choices := k.all(); len(choices) > 0 {
			all = append(all, choices)
		}
	}
	return all
}

func (g *guide) keep(m mutation, points []point) {
	k := keptRun{mutation: m, points: points}
	for _, p := range points {
		if !g.calm[p.Choice] {
			k.novel = append(k.novel, p)
		}
	}
	g.kept = append(g.kept, k)
}

// calmOdds: one in this many mutations starts from the calm run.
const calmOdds = 3

// draw adds faults to a kept run; if the budget is exceeded, its first faults are dropped. Half of
// the runs get another order.
func (g *guide) draw() mutation {
	k := g.kept[0]
	if g.chance.below(calmOdds) > 0 {
		k = g.kept[g.chance.below(len(g.kept))]
	}
	m := mutation{slices.Clone(k.Choices), k.Order}
	for range min(g.budget, 1+g.chance.below(g.budget)) {
		if c, ok := g.fault(k); ok {
			m.Choices = append(m.Choices, c)
		}
	}
	m.Choices = m.Choices[max(0, len(m.Choices)-g.budget):]
	if len(m.Choices) == 0 || g.chance.below(2) == 0 {
		m.Order = uint64(1 + g.chance.below(1<<30))
	}
	return m
}

// fault chooses a random fault for a kept run. In half of the draws it is at a point that the calm
// run does not reach, and preferably at a point that no run has reached.
func (g *guide) fault(k keptRun) (drawn Choice, ok bool) {
	among := k.points
	if len(k.novel) > 0 && g.chance.below(2) == 0 {
		among = k.novel
	}
	if len(among) == 0 {
		return Choice{}, false
	}
	for range attempts {
		at := among[g.chance.below(len(among))]
		drawn = at.Choice
		drawn.Takes = at.Alternatives[1+g.chance.below(len(at.Alternatives)-1)]
		if !g.tried[drawn.loose()] {
			break
		}
	}
	g.tried[drawn.loose()] = true
	return drawn, true
}

// steered takes given faults, in the order of a strategy. It records the points for further faults,
// and the lagging views at them.
type steered struct {
	*Replay
	counting
	order kernel.Strategy
	views lags
}

func newSteered(m mutation, calm known) *steered {
	s := &steered{Replay: NewReplay(m.Choices), counting: counting{names: newNamed()}, order: kernel.Calm{}}
	if m.Order > 0 {
		s.order = newPCT(m.Order, calm, 0)
	}
	return s
}

// Choose takes the faults of the replay, and the order of the strategy.
func (s *steered) Choose(c kernel.Choice) int {
	s.counting.Choose(c)
	if isFault(c) {
		s.views.at(c)
		return s.Replay.Choose(c)
	}
	i := s.order.Choose(c)
	s.views.take(c, i)
	return i
}

func (s *steered) String() string { return s.Replay.String() + ", " + s.order.String() }

// points returns the points of the run.
func (s *steered) points() []point { return slices.Concat(s.Calls, s.Writes) }

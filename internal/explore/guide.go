package explore

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/csisim/csisim/internal/world/kernel"
)

// generation is how many runs are drawn at once from what those before them have shown: so as many workers as there
// are draw the same.
const generation = 32

// attempts is how many faults are drawn until one is taken that no run has had.
const attempts = 16

// guide keeps the runs that reached states which no run before them had reached, and adds faults to one of them for each
// further run: what takes two faults is found where the first has led to something new.
type guide struct {
	first  uint64 // run of the first generation
	budget int
	calm   map[Choice]bool // the points that the calm run has, too
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

// keptRun is a run that showed something new, and where faults can be added to it.
type keptRun struct {
	mutation
	points, novel []point // novel are those that the calm run does not have
}

// mutation is what a guided run takes: faults, in the calm order or in one that a seed draws, with its stale views.
type mutation struct {
	Choices []Choice
	Order   uint64 // 0 is the calm one
}

// orderKind is the kind of the choice by which a corpus names the order of a run.
const orderKind = "order"

// all are the choices with that of the order, as corpora keep them.
func (m mutation) all() []Choice {
	if m.Order == 0 {
		return m.Choices
	}
	return append([]Choice{{Kind: orderKind, Nth: 1, Takes: strconv.FormatUint(m.Order, 10)}}, m.Choices...)
}

// mutationOf is what a corpus has kept.
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

// of is what a run chooses. It waits until the runs before its generation are learnt; if ctx ends first there is nothing.
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

// wakeAtEnd wakes who waits when ctx ends, also one that has looked at ctx and does not wait yet.
func wakeAtEnd(ctx context.Context, waiting *sync.Cond) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		waiting.L.Lock()
		defer waiting.L.Unlock()
		waiting.Broadcast()
	})
}

// learn takes notice of a run; runs are learnt in their order.
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

// choices are those of the runs that were kept, but for the calm one.
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

// calmOdds: one mutation in so many begins anew, with the calm run.
const calmOdds = 3

// draw adds faults to a run that was kept, in the place of its first ones if the budget is spent, and has half of them take another order.
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

// fault draws one for a run that was kept: half the time where the calm run does not get to, and rather one that no run has had.
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

// steered takes some faults in some order, and notes where others can be taken, and whose view lags there.
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

// Choose takes what is wanted here.
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

// points are those of the run.
func (s *steered) points() []point { return slices.Concat(s.Calls, s.Writes) }

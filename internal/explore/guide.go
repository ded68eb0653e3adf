package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/csisim/csisim/internal/world/kernel"
)

// generation is how many runs are drawn at once from what those before them have shown: so as many workers as there
// are draw the same.
const generation = 32

// guide keeps the runs that reached states which no run before them had reached, and adds a fault to one of them for each
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
	current [][]Choice
	states  map[string]bool
	kept    []keptRun
}

// keptRun is a run that showed something new, and where faults can be added to it.
type keptRun struct {
	choices       []Choice
	points, novel []point // novel are those that the calm run does not have
}

func newGuide(first uint64, seed uint64, o Options, calm known) *guide {
	g := &guide{first: first, budget: o.Budget, calm: map[Choice]bool{}, chance: newChance(seed), states: map[string]bool{}}
	g.learnt = sync.NewCond(&g.mu)
	for _, p := range slices.Concat(calm.calls, calm.writes) {
		g.calm[p.Choice] = true
	}
	g.keep(nil, slices.Concat(calm.calls, calm.writes))
	return g
}

// of is what a run chooses. It waits until the runs before its generation are learnt; if ctx ends first there is nothing.
func (g *guide) of(ctx context.Context, run uint64) []Choice {
	defer wakeAtEnd(ctx, g.learnt)()
	g.mu.Lock()
	defer g.mu.Unlock()
	at := run - g.first
	for ctx.Err() == nil && g.done < g.first+at/generation*generation {
		g.learnt.Wait()
	}
	if ctx.Err() != nil {
		return nil
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
func (g *guide) learn(choices []Choice, points []point, states []string) {
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
		g.keep(choices, points)
	}
}

// choices are those of the runs that were kept, but for the calm one.
func (g *guide) choices() (all [][]Choice) {
	for _, k := range g.kept {
		if len(k.choices) > 0 {
			all = append(all, k.choices)
		}
	}
	return all
}

// reached is how many states the runs have reached.
func (g *guide) reached() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.states)
}

func (g *guide) keep(choices []Choice, points []point) {
	k := keptRun{choices: choices, points: points}
	for _, p := range points {
		if !g.calm[p.Choice] {
			k.novel = append(k.novel, p)
		}
	}
	g.kept = append(g.kept, k)
}

// strayOdds: one run in so many follows its own seed, with another order of processes.
const strayOdds = 4

// draw adds a fault to a run that was kept, or puts it in the place of one if the budget is spent; nil is for a run that
// follows its own seed.
func (g *guide) draw() []Choice {
	if g.chance.below(strayOdds) == 0 {
		return nil
	}
	k := g.kept[g.chance.below(len(g.kept))]
	among := k.points
	if len(k.novel) > 0 && g.chance.below(2) == 0 {
		among = k.novel
	}
	if len(among) == 0 {
		return nil
	}
	at := among[g.chance.below(len(among))]
	at.Takes = at.alternatives[1+g.chance.below(len(at.alternatives)-1)]
	choices := slices.Clone(k.choices)
	if len(choices) >= g.budget {
		choices = slices.Delete(choices, 0, 1)
	}
	return append(choices, at.Choice)
}

// steered takes some choices, and notes where others can be taken.
type steered struct {
	*Replay
	counting
}

func newSteered(choices []Choice) *steered {
	return &steered{NewReplay(choices), counting{names: newNamed()}}
}

// Choose takes what is wanted here.
func (s *steered) Choose(c kernel.Choice) int {
	s.counting.Choose(c)
	return s.Replay.Choose(c)
}

func (s *steered) String() string { return s.Replay.String() }

// points are those of the run.
func (s *steered) points() []point { return slices.Concat(s.calls, s.writes) }

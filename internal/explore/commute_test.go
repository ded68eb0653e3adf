package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/kernel"
)

// shelves is a subject with processes that change shared data, wake each other and wait, in a
// pattern from a seed. The end of a run is the final state of each thing.
type shelves struct {
	seed uint64
	mu   sync.Mutex
	ends map[string]int
}

// things is the number of things. There are few of them, so that some steps commute and others do
// not.
const things = 4

func (s *shelves) Run(_ context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (Outcome, error) {
	k := kernel.New(kernel.Options{Strategy: strategy, Stacks: stacks})
	defer k.Close()
	var histories [things]string
	var all []*kernel.Process
	c := newChance(s.seed)
	change := func(p *kernel.Process, at int) {
		k.Changes(fmt.Sprint(at))
		histories[at] += p.Name() + " "
	}
	for i := range 3 + c.below(3) {
		var does []func(*kernel.Process)
		for range 1 + c.below(3) {
			at, other, how := c.below(things), c.below(6), c.below(7)
			does = append(does, func(p *kernel.Process) {
				switch how {
				case 0, 1:
					change(p, at)
				case 2:
					p.Yield("change")
					change(p, at)
				case 3:
					all[other%len(all)].Wake()
				case 4:
					p.ParkUntil("news", p.Elapsed()+5)
					change(p, at)
				case 5:
					p.Sleep(1)
				case 6:
					if k.ChooseNamed(kernel.Fault, p.Name(), []string{"no fault", "lost"}) == 1 {
						histories[at] += "lost "
						k.Changes(fmt.Sprint(at))
					}
				}
			})
		}
		name := string(rune('a' + i))
		group := kernel.NewGroup(name)
		group.Apart = true
		all = append(all, k.Spawn(group, name, func(p *kernel.Process) {
			for _, do := range does {
				do(p)
			}
		}))
	}
	k.Run(kernel.Until{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[strings.Join(histories[:], "|")]++
	return Outcome{}, nil
}

func (s *shelves) search(t *testing.T, o Options) (ends []string, runs, twins int) {
	s.ends = map[string]int{}
	o.Strategy, o.Runs = Exhaustive, 20000
	found, err := Of(t.Context(), func() (Subject, error) { return s, nil }, o)
	require.NoError(t, err)
	require.True(t, found.Complete())
	return slices.Sorted(maps.Keys(s.ends)), found.Runs, found.LeftOut()
}

// Within any bounds, a search that leaves runs out reaches the same ends as a search that does not,
// in fewer runs.
func TestOmittedRunsHaveTheEndOfAnExecutedRun(t *testing.T) {
	for _, o := range []Options{{Deviations: 1}, {Deviations: 2}, {Deviations: 1, Budget: 1}, {Deviations: 2, Budget: 1, Jobs: 2}, {Deviations: 3}} {
		all, some := 0, 0
		for seed := range uint64(60) {
			s := &shelves{seed: seed}
			o.Unreduced = true
			ends, runs, _ := s.search(t, o)
			o.Unreduced = false
			reached, fewer, _ := s.search(t, o)
			assert.Equal(t, ends, reached, "seed %d, %d faults, %d deviations", seed, o.Budget, o.Deviations)
			all, some = all+runs, some+fewer
		}
		t.Logf("%d faults, %d other decisions: %d runs of %d", o.Budget, o.Deviations, some, all)
		assert.Less(t, some, all)
	}
}

// Steps without shared data are executed in one order only, and steps with shared data in both.
func TestOneOrderOfStepsThatCommuteIsMade(t *testing.T) {
	for shared, want := range map[bool]int{true: 4, false: 1} {
		s := &toy{start: func(k *kernel.Kernel, did func(string)) {
			for _, name := range []string{"a", "b", "c"} {
				group := kernel.NewGroup(name)
				group.Apart = true
				k.Spawn(group, name, func(*kernel.Process) {
					if shared {
						name = "all"
					}
					k.Changes(name)
				})
			}
		}}
		found := s.search(t, Options{Deviations: 1})
		assert.True(t, found.Complete())
		assert.Equal(t, want, found.Runs)
		assert.Equal(t, 4-want, found.LeftOut())
	}
}

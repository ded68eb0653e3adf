package explore

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// toy is a subject of a few processes. It records how its runs went.
type toy struct {
	start func(k *kernel.Kernel, did func(string))
	wrong func(went string) bool

	mu   sync.Mutex
	went map[string]int
}

func (s *toy) Run(_ context.Context, strategy kernel.Strategy, stacks *kernel.Stacks) (Outcome, error) {
	k := kernel.New(kernel.Options{Strategy: strategy, Stacks: stacks})
	defer k.Close()
	var went string
	s.start(k, func(step string) { went += step })
	k.Run(kernel.Until{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.went[went]++
	if s.wrong != nil && s.wrong(went) {
		return Outcome{Shown: []Shown{{Verdict: verdict.Verdict{Name: "wrong", Text: went}}}}, nil
	}
	return Outcome{}, nil
}

func (s *toy) search(t *testing.T, o Options) *Search {
	s.went = map[string]int{}
	o.Strategy, o.Alone = Exhaustive, true
	found, err := Of(context.Background(), func() (Subject, error) { return s, nil }, o)
	require.NoError(t, err)
	return found
}

// two processes with two steps each.
func two(k *kernel.Kernel, did func(string)) {
	for _, name := range []string{"a", "b"} {
		k.Spawn(nil, name, func(p *kernel.Process) {
			did(name + "1 ")
			p.Yield("step 2")
			did(name + "2 ")
		})
	}
}

func TestAnExhaustiveSearchMakesEveryOrderOnce(t *testing.T) {
	for _, jobs := range []int{1, 3} {
		s := &toy{start: two}
		found := s.search(t, Options{Deviations: 10, Jobs: jobs})
		assert.True(t, found.Complete())
		assert.Equal(t, 6, found.Runs)
		s.went["a1 a2 b1 b2 "]-- // the calm run before the search
		assert.Equal(t, map[string]int{
			"a1 a2 b1 b2 ": 1, "a1 b1 a2 b2 ": 1, "a1 b1 b2 a2 ": 1, "b1 a1 a2 b2 ": 1, "b1 a1 b2 a2 ": 1, "b1 b2 a1 a2 ": 1,
		}, s.went)
	}
}

func TestAnExhaustiveSearchSaysWhetherItIsComplete(t *testing.T) {
	s := &toy{start: two}
	found := s.search(t, Options{Deviations: 10, Runs: 5})
	assert.False(t, found.Complete())
	assert.Equal(t, 5, found.Runs)

	found = s.search(t, Options{Deviations: 10, Runs: 6})
	assert.True(t, found.Complete(), "the last run was the last that there is")

	found = s.search(t, Options{Deviations: 1})
	assert.True(t, found.Complete(), "within its bounds")
	assert.Equal(t, 3, found.Runs, "calm, b before a, b between a1 and a2")
}

// The failure needs both a fault at one call and an order of processes. Many other faults and
// orders do no harm.
func coincidence(k *kernel.Kernel, did func(string)) {
	for range 3 {
		k.Spawn(nil, "bystander", func(p *kernel.Process) { p.Yield("pass") })
	}
	k.Spawn(nil, "caller", func(p *kernel.Process) {
		for range 3 {
			p.Yield("call")
			if k.ChooseNamed(kernel.Fault, "call", []string{"no fault", "lost"}) == 1 {
				did("lost ")
			}
			did("call ")
		}
	})
	k.Spawn(nil, "restarted", func(p *kernel.Process) { did("restart ") })
}

func TestAMistakeThatNeedsTwoCoincidencesIsFoundWithinSufficientBounds(t *testing.T) {
	s := &toy{start: coincidence, wrong: func(went string) bool { return went == "call lost call restart call " }}
	for _, o := range []Options{{Budget: 1}, {Deviations: 1}, {Deviations: 2}} {
		found := s.search(t, o)
		assert.True(t, found.Complete())
		assert.Empty(t, found.Findings, o)
	}
	found := s.search(t, Options{Budget: 1, Deviations: 1})
	assert.True(t, found.Complete())
	require.Len(t, found.Findings, 1)
	assert.Len(t, found.Findings[0].Choices, 2)
}

// The choice of a relist has only two different alternatives, however improbable a relist is.
func TestAlternativesThatAreAlikeAreTriedOnce(t *testing.T) {
	s := &toy{start: func(k *kernel.Kernel, did func(string)) {
		if k.Choose(kernel.Relist, 32, "cache") == 31 {
			did("relist")
		}
	}}
	found := s.search(t, Options{Deviations: 1})
	assert.True(t, found.Complete())
	assert.Equal(t, 2, found.Runs)
}

package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shardOf returns the result of one shard, in which each call takes took milliseconds.
func shardOf(index, shards int, took int64, volumes ...int) *Result {
	plan := Plan{Volumes: volumes, Runs: 1, Nodes: 4}.WithDefaults().Share(index, shards)
	r := &Result{Format: Format, Plan: plan}
	for _, n := range plan.Volumes {
		run := Run{Calls: map[string]*Calls{}, Phases: []Phase{{Name: "up", Took: took * 1e6}}}
		c := &Calls{Failed: map[int]string{}, Messages: map[string]string{}}
		for i := range n {
			c.Began, c.Took = append(c.Began, int64(i)*took*1e3), append(c.Took, took*1e3)
		}
		if n > 0 {
			c.Failed[0], c.Messages["Internal"] = "Internal", "full"
			run.Calls["CreateVolume"] = c
		}
		r.Levels = append(r.Levels, Level{Volumes: n, Runs: []Run{run}})
	}
	return r
}

func TestShardsTogetherAreTheWholeLoad(t *testing.T) {
	merged, err := Merge([]*Result{shardOf(1, 3, 20, 1, 100), shardOf(0, 3, 10, 1, 100), shardOf(2, 3, 30, 1, 100)})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 100}, merged.Plan.Volumes)
	assert.Equal(t, 6, merged.Plan.Nodes, "each shard has its nodes")
	require.Len(t, merged.Levels, 2)
	s := merged.Levels[1].Of("CreateVolume")
	assert.Equal(t, 100, s.Count)
	assert.Equal(t, map[string]int{"Internal": 3}, s.Errors)
	assert.InDelta(t, 20, s.P50, 0.1)
	assert.Equal(t, 3, s.InFlight, "the shards work side by side")
	assert.Equal(t, []float64{30}, merged.Levels[1].Took("up"), "the last shard ends the phase")
	assert.Equal(t, 1, merged.Levels[0].Of("CreateVolume").Count, "two shards have no volume at this level")
	assert.Empty(t, merged.Notes)
}

func TestShardsThatDoNotFitTogether(t *testing.T) {
	_, err := Merge(nil)
	assert.EqualError(t, err, "there is no result")
	_, err = Merge([]*Result{shardOf(0, 2, 10, 100), shardOf(0, 2, 10, 100)})
	assert.EqualError(t, err, "shard 0 of 2 is there twice")
	_, err = Merge([]*Result{shardOf(0, 2, 10, 100), shardOf(1, 2, 10, 50)})
	assert.ErrorContains(t, err, "shards of different loads")
	_, err = Merge([]*Result{{Format: Format}})
	assert.EqualError(t, err, "a result is that of a whole load, not of a shard")
	merged, err := Merge([]*Result{shardOf(0, 2, 10, 100)})
	require.NoError(t, err)
	assert.Equal(t, []string{"shard 1 of 2 is missing: its volumes are not in this result"}, merged.Notes)
}

func TestALeakGrowsSteadily(t *testing.T) {
	for name, c := range map[string]struct {
		after []float64
		grown float64
	}{
		"a leak":                     {[]float64{10, 20, 30}, 20},
		"a heap that is filled once": {[]float64{10, 20, 22}, 0},
		"it comes back":              {[]float64{10, 20, 15, 25}, 0},
		"two runs say nothing":       {[]float64{10, 20}, 0},
	} {
		assert.Equal(t, c.grown, steady(c.after), name)
	}
}

// callsOf returns calls that begin together, and end sequentially.
func callsOf(began int64, ends ...int64) *Calls {
	c := &Calls{}
	for _, end := range ends {
		c.Began, c.Took = append(c.Began, began), append(c.Took, end-began)
	}
	return c
}

// every returns the ends of 20 calls, in microseconds, at regular intervals.
func every(first, step int64) (ends []int64) {
	for i := range int64(20) {
		ends = append(ends, first+i*step)
	}
	return ends
}

func TestALockForAllCallsDiffersFromOneForEachKind(t *testing.T) {
	kinds := []string{"CreateVolume", "NodeStageVolume", "NodePublishVolume"}
	for name, c := range map[string]struct {
		// first and step determine the ends of the calls of each kind; a single call takes 10 ms.
		first, step int64
		busy        float64
		found       []string
	}{
		"one lock for all kinds":             {10_000, 30_000, 1.2, []string{"serialized"}},
		"one lock, on a machine with load":   {22_000, 66_000, 1.6, []string{"serialized"}},
		"one lock for each kind":             {3_000, 10_000, 1.2, []string{"serialized/CreateVolume", "serialized/NodeStageVolume", "serialized/NodePublishVolume"}},
		"no lock":                            {100, 500, 1.2, nil},
		"as many calls as there is time for": {10_000, 30_000, 3.5, nil},
	} {
		alone, crowd := Run{Calls: map[string]*Calls{}}, Run{Calls: map[string]*Calls{}, Phases: []Phase{{Name: "up", Took: 1e9, Busy: c.busy}}}
		for i, kind := range kinds {
			alone.Calls[kind] = callsOf(0, 10_000)
			crowd.Calls[kind] = callsOf(0, every(c.first*int64(i+1), c.step)...)
		}
		r := &Result{Levels: []Level{{1, []Run{alone}}, {20, []Run{crowd}}}}
		var found []string
		for _, f := range serialized(r) {
			found = append(found, f.Name)
		}
		assert.Equal(t, c.found, found, name)
	}
}

func TestAFileThatACallOpensEverMoreOftenIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		few, many map[string]int
		text      string
	}{
		"more often":      {map[string]int{"/m": 20, "/etc/conf": 9}, map[string]int{"/m": 200, "/etc/conf": 9}, "; one call opens /m 20 times at 10 volumes, and 200 times at 100"},
		"only then":       {nil, map[string]int{"/m": 100}, "; one call opens /m 0 times at 10 volumes, and 100 times at 100"},
		"as often":        {map[string]int{"/m": 20}, map[string]int{"/m": 21}, ""},
		"seldom":          {map[string]int{"/m": 1}, map[string]int{"/m": 9}, ""},
		"it is not known": {nil, nil, ""},
	} {
		r := &Result{Levels: []Level{{Volumes: 10}, {Volumes: 100}}, Opened: []Opened{{"NodePublishVolume", 10, c.few}, {"NodePublishVolume", 100, c.many}}}
		assert.Equal(t, c.text, r.opens("NodePublishVolume"), name)
	}
}

// growing returns levels of 10 and 100 volumes with three runs each. The calls are sequential. The
// functions return their durations, and the start time, in milliseconds.
func growing(call, start func(volumes int) int64) *Result {
	r := &Result{}
	for _, n := range []int{10, 100} {
		l := Level{Volumes: n}
		for range 3 {
			c := &Calls{}
			for i := range int64(n) {
				c.Began, c.Took = append(c.Began, i*call(n)*1e3), append(c.Took, call(n)*1e3)
			}
			l.Runs = append(l.Runs, Run{Calls: map[string]*Calls{"NodePublishVolume": c}, Starts: []int64{start(n) * 1e3}})
		}
		r.Levels = append(r.Levels, l)
	}
	return r
}

func TestCallsAndStartsThatGrowAreNamed(t *testing.T) {
	same := func(ms int64) func(int) int64 { return func(int) int64 { return ms } }
	times := func(ms int64) func(int) int64 { return func(n int) int64 { return ms * int64(n) } }
	for name, c := range map[string]struct {
		call, start func(int) int64
		texts       []string
	}{
		"neither grows":        {same(20), same(50), nil},
		"calls grow":           {times(1), same(50), []string{"NodePublishVolume grows with the square of the volumes: 10.0 ms at 10 volumes, 100 ms at 100; its total time has the exponent 2.00 (2.00 to 2.00)"}},
		"quick calls may grow": {func(n int) int64 { return max(1, int64(n)/20) }, same(50), []string(nil)},
		"starts grow":          {same(20), times(20), []string{"the driver starts slower with more volumes: 200 ms at 10 volumes, 2.0 s at 100"}},
	} {
		var texts []string
		r := growing(c.call, c.start)
		for _, f := range append(growths(r), slowStarts(r)...) {
			texts = append(texts, f.Text)
		}
		assert.Equal(t, c.texts, texts, name)
	}
}

// Given calls of growing duration, then waits for a processor explain them if these grow as much,
// unless the driver also needs more and more processor time for a volume.
func TestABusyMachineIsNoGrowth(t *testing.T) {
	idle, busy := Phase{CPU: 1e6, Ran: 1e6, Delayed: 1e5}, Phase{CPU: 1e6, Ran: 1e6, Delayed: 5e6}
	for name, c := range map[string]struct {
		few, many Phase
		found     int
	}{
		"a machine without other work":                    {idle, Phase{CPU: 10e6, Ran: 10e6, Delayed: 1e6}, 1},
		"other work while there are many volumes":         {idle, Phase{CPU: 10e6, Ran: 10e6, Delayed: 300e6}, 0},
		"other work all the time":                         {busy, Phase{CPU: 10e6, Ran: 10e6, Delayed: 50e6}, 1},
		"other work, and a driver that works ever longer": {idle, Phase{CPU: 100e6, Ran: 100e6, Delayed: 3000e6}, 1},
		"it is not known":                                 {Phase{}, Phase{}, 1},
	} {
		r := growing(func(n int) int64 { return int64(n) }, func(int) int64 { return 50 })
		for i, phase := range []Phase{c.few, c.many} {
			for j := range r.Levels[i].Runs {
				r.Levels[i].Runs[j].Phases = []Phase{phase}
			}
		}
		assert.Len(t, growths(r), c.found, name)
	}
}

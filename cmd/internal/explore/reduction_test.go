package explore

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

var allOrders = flag.Bool("all-orders", false, "compare reduced and unreduced searches of longer scenarios, too")

// counted matches numbers that depend on the order of commuting writes.
var counted = regexp.MustCompile(`"(uid|resourceVersion|managedFields)":("[^"]*"|\[[^]]*\])|[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}`)

// histories returns the history of each volume and object in a run: the calls about it with their
// answers, by driver, and all states of the object, in order. The order of events of different
// objects is ignored.
func histories(events []*trace.Event) string {
	all := map[string]string{}
	for _, e := range events {
		switch e.Kind {
		case trace.Call:
			of := "calls"
			if v, ok := e.Request.(interface{ GetVolumeId() string }); ok {
				of = v.GetVolumeId()
			} else if v, ok := e.Request.(interface{ GetName() string }); ok {
				of = v.GetName()
			} else {
				continue
			}
			all[of] += fmt.Sprintf("%s %s %s %s %v %v\n", e.At, e.Actor, e.Node, e.Method, e.Request, e.Code)
		case trace.API:
			state, err := json.Marshal(e.New)
			if err != nil {
				panic(err)
			}
			all[e.Resource+" "+e.Name] += fmt.Sprintf("%s %s %s\n", e.At, e.Change, state)
		}
	}
	var lines []string
	for _, of := range slices.Sorted(maps.Keys(all)) {
		lines = append(lines, counted.ReplaceAllString(of+"\n"+all[of], ""))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, ""))))
}

// recordingSubject records the ends of the runs of a subject.
type recordingSubject struct {
	*subject
	mu   *sync.Mutex
	seen map[string]int
}

func (w recordingSubject) Run(ctx context.Context, s kernel.Strategy, stacks *kernel.Stacks) (explore.Outcome, error) {
	result, err := w.run(ctx, s, stacks)
	if err != nil {
		return explore.Outcome{}, err
	}
	outcome := explore.Outcome{Shown: shownBy(result)}
	name := histories(result.Trace)
	for _, shown := range outcome.Shown {
		name += " " + shown.Name
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[name]++
	return outcome, nil
}

// ends returns the ends that an exhaustive search of a scenario reaches.
func ends(t *testing.T, name string, o explore.Options, space fault.Space) (map[string]int, *explore.Search) {
	t.Helper()
	all := usual(0)
	all.Space = space
	w := recordingSubject{mu: &sync.Mutex{}, seen: map[string]int{}}
	o.Strategy, o.Jobs, o.Budget = explore.Exhaustive, 1, space.Budget
	found, err := explore.Of(t.Context(), func() (explore.Subject, error) {
		s, err := newSubject(fileOf(name), textOf(t, name), all)
		return recordingSubject{s, w.mu, w.seen}, err
	}, o)
	require.NoError(t, err)
	require.True(t, found.Complete() || found.Runs == o.Runs)
	return w.seen, found
}

// Each run that is left out only reorders commuting steps, so it ends like a run that is made.
func TestAReducedSearchReachesAllEndsOfAnUnreducedOne(t *testing.T) {
	lost := fault.Space{Kinds: []fault.Kind{fault.Lost}, Budget: 1}
	tests := []struct {
		name  string
		space fault.Space
		runs  int // limit of the unreduced search; 0 means no limit
	}{
		{"testdata/started", fault.Space{}, 400},
		{"testdata/started", fault.Space{}, 0},
		{"testdata/made", fault.Space{}, 0},
		{"testdata/made", lost, 0},
		{"lifecycle", fault.Space{}, 0},
	}
	for _, test := range tests {
		if test.runs == 0 && !*allOrders {
			continue
		}
		t.Run(fmt.Sprintf("%s %v %d", test.name, test.space.Kinds, test.runs), func(t *testing.T) {
			some, reduced := ends(t, test.name, explore.Options{Deviations: 1}, test.space)
			all, unreduced := ends(t, test.name, explore.Options{Deviations: 1, Unreduced: true, Runs: test.runs}, test.space)
			t.Logf("unreduced: %d ends, %d runs in %.1fs; reduced: %d ends, %d runs in %.1fs, %d left out", len(all), unreduced.Runs, unreduced.Elapsed.Seconds(), len(some), reduced.Runs, reduced.Elapsed.Seconds(), reduced.LeftOut())
			assert.Subset(t, slices.Collect(maps.Keys(some)), slices.Collect(maps.Keys(all)))
			if test.runs == 0 {
				assert.Subset(t, slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(some)))
				assert.Less(t, reduced.Runs, unreduced.Runs)
			}
			assert.NotZero(t, reduced.LeftOut())
		})
	}
}

package explore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

const scenarios = "../../../scenarios/explore"

// usual is the search that csisim explore makes by default, bounded by runs.
func usual(runs int) Options {
	return Options{Strategy: "pct", Seed: 1, Runs: runs, Jobs: 1, Space: fault.Space{Kinds: fault.Kinds(), Budget: 3}}
}

func textOf(t *testing.T, name string, faulty ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(scenarios, name+".yaml"))
	require.NoError(t, err)
	if len(faulty) == 0 {
		return text
	}
	changed := strings.Replace(string(text), "mock: {", "mock: {faulty: ["+strings.Join(faulty, ", ")+"], ", 1)
	require.NotEqual(t, string(text), changed)
	return []byte(changed)
}

func search(t *testing.T, name string, o Options, faulty ...string) *Search {
	t.Helper()
	s, err := Of(context.Background(), filepath.Join(scenarios, name+".yaml"), textOf(t, name, faulty...), o)
	require.NoError(t, err)
	require.Equal(t, scenario.Passed, s.Calm.Exit, "the mistake must not show in the calm run")
	return s
}

// seeded are mistakes of a driver that no calm run shows.
var seeded = []struct {
	faulty, scenario, want string
	runs                   int
}{
	{"create-not-idempotent", "lifecycle", "CreateVolume is not idempotent: volume … then …", 40},
	{"delete-not-idempotent", "lifecycle", "DeleteVolumeRequest is answered with NotFound: the CSI spec wants OK for what does not exist", 10},
	{"attach-not-idempotent", "lifecycle", "ControllerPublishVolume is not idempotent: OK, then Internal", 10},
	{"detach-not-idempotent", "lifecycle", "ControllerUnpublishVolume is not idempotent: OK, then Internal", 10},
	{"stage-not-idempotent", "lifecycle", "NodeStageVolume fails for good: Internal: volume … is staged already", 10},
	{"unstage-not-idempotent", "lifecycle", "NodeUnstageVolume is not idempotent: OK, then Internal", 40},
	{"publish-not-idempotent", "lifecycle", "NodePublishVolume is not idempotent: OK, then Internal", 10},
	{"unpublish-not-idempotent", "lifecycle", "NodeUnpublishVolume fails for good: Internal: volume … is not published", 20},
	{"forget-attachment-on-restart", "lifecycle", "NodeStageVolume fails for good: FailedPrecondition: volume … is not attached to node …", 10},
	{"snapshot-not-idempotent", "snapshot", "CreateSnapshot is not idempotent: snapshot …, then …", 40},
}

// shortStory is how many choices people take in as a story.
const shortStory = 4

func TestMistakesThatNoCalmRunShowsAreFoundShrunkAndReplayed(t *testing.T) {
	for _, c := range seeded {
		t.Run(c.faulty, func(t *testing.T) {
			s := search(t, c.scenario, usual(c.runs), c.faulty)
			var names []string
			for _, f := range s.Findings {
				names = append(names, f.Name)
			}
			require.Contains(t, names, c.want)
			for _, f := range s.Findings {
				t.Logf("seed %d, %d runs, %d choices of %d: %s", f.Seed, f.Runs, len(f.Choices), f.Before, f.Verdict)
				assert.LessOrEqual(t, len(f.Choices), shortStory, f.Name)
				replay := NewReplay(f.Choices, s.options.Space)
				result, err := s.subject.run(context.Background(), replay)
				require.NoError(t, err)
				assert.Empty(t, replay.Unfit())
				assert.NotNil(t, Shows(result, f.Name), "the replay of %s", f.Name)
			}
		})
	}
}

func TestASoundDriverHasNoFinding(t *testing.T) {
	for _, name := range []string{"lifecycle", "snapshot", "expansion"} {
		for _, strategy := range Strategies() {
			o := usual(40)
			o.Strategy = strategy
			s := search(t, name, o)
			assert.Equal(t, 40, s.Runs)
			assert.Empty(t, s.Findings, "%s with %s", name, strategy)
		}
	}
}

// The same seeds find the same, however many workers there are.
func TestASearchIsAFunctionOfItsSeed(t *testing.T) {
	stories := func(jobs int) (all []string) {
		o := usual(12)
		o.Jobs = jobs
		for _, f := range search(t, "lifecycle", o, "attach-not-idempotent").Findings {
			story := []string{f.Name, f.Verdict}
			for _, c := range f.Choices {
				story = append(story, c.String())
			}
			all = append(all, strings.Join(story, "\n"))
		}
		return all
	}
	once := stories(1)
	require.NotEmpty(t, once)
	assert.Equal(t, once, stories(3))
}

func TestNoFaultHappensBeyondTheBudget(t *testing.T) {
	subject, err := newSubject("x.yaml", textOf(t, "lifecycle"), fault.Space{Kinds: []fault.Kind{fault.Lost}, Budget: 2})
	require.NoError(t, err)
	always := &eager{}
	result, err := subject.run(context.Background(), always)
	require.NoError(t, err)
	assert.Equal(t, 2, always.asked)
	injected := 0
	for _, e := range result.Trace {
		if e.Injected != "" {
			injected++
		}
	}
	assert.Equal(t, 2, injected)
}

// eager takes every fault that it is offered.
type eager struct{ asked int }

func (e *eager) Choose(c kernel.Choice) int {
	if c.Kind != kernel.Fault {
		return 0
	}
	e.asked++
	return 1
}

func (*eager) String() string { return "eager" }

func TestAScenarioThatFailsCalmlyIsNotSearched(t *testing.T) {
	s, err := Of(context.Background(), "x.yaml", textOf(t, "lifecycle", "unstage-leaks"), usual(5))
	require.NoError(t, err)
	assert.Equal(t, scenario.Failed, s.Calm.Exit)
	assert.Zero(t, s.Runs)
}

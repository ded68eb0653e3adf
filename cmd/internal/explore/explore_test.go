package explore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

const scenarios = "../../../scenarios/explore"

// fileOf returns the file of a scenario for searches, or of a scenario of the tests.
func fileOf(name string) string {
	if strings.HasPrefix(name, "testdata/") {
		return name + ".yaml"
	}
	return filepath.Join(scenarios, name+".yaml")
}

// usual returns the default options of csisim explore, bounded by runs.
func usual(runs int) Options {
	return Options{Strategy: "pct", Seed: 1, Runs: runs, Jobs: 1, Space: fault.Space{Kinds: fault.Usual(), Budget: 3}}
}

func textOf(t testing.TB, name string, faulty ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(fileOf(name))
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

// rerun makes one run of a scenario with a mistake.
func rerun(t *testing.T, name string, text []byte, strategy kernel.Strategy) *scenario.Result {
	subject, err := newSubject(fileOf(name), text, usual(1))
	require.NoError(t, err)
	result, err := subject.run(context.Background(), strategy, nil)
	require.NoError(t, err)
	return result
}

// The attachment is lost when the driver is killed during a second attach of the volume. This
// requires a fault, and a stale view that causes the second attach.
func TestAMistakeThatNeedsAFaultAndAnOrderIsFound(t *testing.T) {
	o := usual(200)
	o.Space.Kinds = []fault.Kind{fault.Killed}
	s := search(t, "lifecycle", o, "forget-attachment-on-restart")
	require.NotEmpty(t, s.Findings)
	assert.Regexp(t, "^Node(Stage|Publish)Volume fails for good: FailedPrecondition$", s.Findings[0].Name)
}

func TestASoundDriverHasNoFinding(t *testing.T) {
	for _, name := range []string{"lifecycle", "snapshot", "expansion"} {
		for _, strategy := range explore.Strategies() {
			o := usual(40)
			o.Strategy = strategy
			s := search(t, name, o)
			assert.Equal(t, 40, s.Runs)
			assert.Empty(t, s.Findings, "%s with %s", name, strategy)
		}
	}
}

// The same seeds have the same findings with any number of workers.
func TestASearchIsAFunctionOfItsSeed(t *testing.T) {
	stories := func(strategy string, jobs int) (all []string) {
		o := usual(130)
		o.Strategy, o.Jobs = strategy, jobs
		o.Space.Kinds = []fault.Kind{fault.Lost, fault.Repeated}
		for _, f := range search(t, "lifecycle", o, "attach-not-idempotent").Findings {
			story := []string{f.Name, f.Text, f.Found, fmt.Sprint(f.Runs)}
			for _, c := range f.Choices {
				story = append(story, c.String())
			}
			all = append(all, strings.Join(story, "\n"))
		}
		return all
	}
	for _, strategy := range []string{"pct", "guided"} {
		once := stories(strategy, 1)
		require.NotEmpty(t, once)
		assert.Equal(t, once, stories(strategy, 3), strategy)
	}
}

// A guide adds faults to more runs after runs have reached new states.
func TestAGuidedSearchReachesMoreThanItsFirstRuns(t *testing.T) {
	reached := func(runs int) int {
		o := usual(runs)
		o.Strategy = "guided"
		return search(t, "lifecycle", o).States
	}
	few, more := reached(40), reached(250)
	assert.Positive(t, few)
	assert.Greater(t, more, few)
}

func TestNoFaultHappensBeyondTheBudget(t *testing.T) {
	subject, err := newSubject("x.yaml", textOf(t, "lifecycle"), Options{Space: fault.Space{Kinds: []fault.Kind{fault.Lost}, Budget: 2}})
	require.NoError(t, err)
	always := &eager{}
	result, err := subject.run(context.Background(), always, nil)
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

// eager takes every possible fault.
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

// A search finds violations of the scenario's invariants. It reports the statements of sometimes
// that were not true in any run.
func TestInvariantsOfTheScenarioAreSearchedFor(t *testing.T) {
	text := append(textOf(t, "lifecycle"), `
always:
- {that: "calls.filter(c, c.call == 'CreateVolume').size() < 2", because: it is called once}
sometimes:
- "calls.exists(c, c.code == 'DeadlineExceeded')"
- "calls.exists(c, c.code == 'DataLoss')"
`...)
	o := usual(12)
	o.Space.Kinds = []fault.Kind{fault.Late}
	s, err := Of(context.Background(), filepath.Join(scenarios, "lifecycle.yaml"), text, o)
	require.NoError(t, err)
	require.Equal(t, scenario.Passed, s.Calm.Exit)
	require.Len(t, s.Findings, 1)
	assert.Equal(t, "invariant broken: calls.filter(c, c.call == 'CreateVolume').size() < 2", s.Findings[0].Text)
	assert.Equal(t, verdict.Own, s.Findings[0].Blame)
	assert.Len(t, s.Findings[0].Choices, 1)
	assert.Equal(t, []string{"calls.exists(c, c.code == 'DataLoss')"}, s.Never())
}

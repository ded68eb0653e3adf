package explore

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// withProgram returns the text of a scenario with the reference driver as a program instead of the
// mock.
func withProgram(t testing.TB, scenario, hostdir string, flags ...string) []byte {
	t.Helper()
	command := append([]string{
		hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}",
		"--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}",
	}, flags...)
	program := `program: {command: ["` + strings.Join(command, `", "`) + `"]}`
	return []byte(strings.Replace(string(textOf(t, scenario)), "mock: {}", program, 1))
}

// Given a driver program that fails when a mount is in use, or after it was killed during a call.
// When such faults happen halfway through its calls, then the search finds the failure with one of
// them, and the driver is responsible. A sound driver tolerates all of them.
func TestAProgramIsDisturbedHalfway(t *testing.T) {
	const halfway = 40 // runs: each single fault, and some together
	hostdir := buildHostdir(t)
	o := usual(halfway)
	o.Space.Kinds, o.Jobs = []fault.Kind{fault.Halfway}, 2
	sound, err := Of(context.Background(), fileOf("lifecycle"), withProgram(t, "lifecycle", hostdir), o)
	require.NoError(t, err)
	assert.Empty(t, namesOf(sound.Findings))
	assert.Greater(t, sound.Possible, 30)
	for broken, takes := range map[string]string{"unpublish-removes-content": "what it unmounts is in use", "socket-stays": "driver killed halfway, after change 1"} {
		t.Run(broken, func(t *testing.T) {
			s, err := Of(context.Background(), fileOf("lifecycle"), withProgram(t, "lifecycle", hostdir, "--broken="+broken), o)
			require.NoError(t, err)
			require.NotEmpty(t, s.Findings)
			for _, f := range s.Findings {
				assert.Equal(t, verdict.Driver, f.Blame, f.Verdict)
				assert.Equal(t, []string{takes}, takenBy(f.Choices), f.Verdict)
			}
		})
	}
}

// Given a driver that ignores a failed unmount after a restart, when single faults happen, then
// there is no finding; pairs of faults show it.
func TestPairsOfFaultsShowDefectsThatNoSingleFaultShows(t *testing.T) {
	hostdir := buildHostdir(t)
	text := withProgram(t, "lifecycle", hostdir, "--broken=unstage-forgives-after-restart")
	o := usual(40) // each single fault, and some together
	o.Space.Kinds, o.Jobs, o.Space.Budget = []fault.Kind{fault.Halfway}, 2, 1
	singles, err := Of(context.Background(), fileOf("lifecycle"), text, o)
	require.NoError(t, err)
	assert.Empty(t, namesOf(singles.Findings))

	// The pair is a kill of the driver, then a mount in use.
	o.Pairs, o.Seed, o.Runs, o.Space.Budget = true, 139, 10, 2
	pairs, err := Of(context.Background(), fileOf("lifecycle"), text, o)
	require.NoError(t, err)
	require.NotEmpty(t, pairs.Findings)
	for _, f := range pairs.Findings {
		assert.Equal(t, verdict.Driver, f.Blame, f.Verdict)
		assert.Len(t, f.Choices, 2, f.Verdict)
	}
}

func takenBy(choices []explore.Choice) (takes []string) {
	for _, c := range choices {
		takes = append(takes, c.Takes)
	}
	return takes
}

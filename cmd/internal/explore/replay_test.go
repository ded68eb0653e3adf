package explore

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// lost is the only choice under which attach-not-idempotent shows.
var lost = explore.Choice{Kind: "fault", Of: "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev", Nth: 1, Takes: "answer lost"}

func TestAReplayNamesTheWrongChoiceAndTheFoundOne(t *testing.T) {
	space := fault.Space{Kinds: []fault.Kind{fault.Lost, fault.Late}, Budget: 2}
	subject, err := newSubject("x.yaml", textOf(t, "lifecycle", "attach-not-idempotent"), Options{Space: space})
	require.NoError(t, err)
	another, later, gone := lost, lost, lost
	another.Of = "ControllerPublishVolume of vol-0002 by mock.csi.csisim.dev"
	later.Nth = 99
	gone.Takes = "answer eaten"
	for _, c := range []struct {
		choices []explore.Choice
		want    string
	}{
		{[]explore.Choice{lost}, ""},
		{[]explore.Choice{lost, another}, `choice 2 (ControllerPublishVolume of vol-0002 by mock.csi.csisim.dev: answer lost) never came up: there was "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev"`},
		{[]explore.Choice{later}, "choice 1 (ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev, time 99: answer lost) never came up: there were fewer than 99 decisions of that name"},
		{[]explore.Choice{gone}, `choice 1 (ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev: answer eaten): there is no "answer eaten", there are no fault, answer lost, answer late, times out in the driver`},
		{[]explore.Choice{another, gone}, `choice 1 (ControllerPublishVolume of vol-0002 by mock.csi.csisim.dev: answer lost) never came up: there was "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev"`},
	} {
		replay := explore.NewReplay(c.choices)
		_, err := subject.run(context.Background(), replay, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, replay.Unfit())
	}
}

// A choice is found again even if more or fewer steps happen before it.
func TestAReplaySurvivesASmallChangeOfTheScenario(t *testing.T) {
	text := append(textOf(t, "lifecycle", "attach-not-idempotent"), "- advance: 1m\n"...)
	subject, err := newSubject("x.yaml", text, usual(1))
	require.NoError(t, err)
	replay := explore.NewReplay([]explore.Choice{lost})
	result, err := subject.run(context.Background(), replay, nil)
	require.NoError(t, err)
	assert.Empty(t, replay.Unfit())
	assert.NotEmpty(t, result.Failures)
}

func TestAFileOfAFindingIsReadUnchanged(t *testing.T) {
	s := &Search{options: usual(1), file: filepath.Join(scenarios, "lifecycle.yaml"), text: textOf(t, "lifecycle")}
	file, err := s.FileOf(&Finding{Finding: &explore.Finding{Shown: explore.Shown{Verdict: verdict.Verdict{Name: "n: …", Text: "v"}}, Found: "pct, seed 7", Choices: []explore.Choice{lost}}}, scenarios)
	require.NoError(t, err)
	assert.Equal(t, "lifecycle.yaml", file.Scenario)
	text, err := file.Marshal()
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "x"+Extension)
	require.NoError(t, os.WriteFile(name, text, 0o600))
	read, err := Load(name)
	require.NoError(t, err)
	assert.Equal(t, file, read)
}

func TestAScenarioIsNoReplay(t *testing.T) {
	_, err := Load(fileOf("lifecycle"))
	assert.EqualError(t, err, fileOf("lifecycle")+" is a scenario, no replay: csisim run runs it, csisim explore searches its runs")
}

func TestAFileWithMistakesIsRefusedWithTheirPlaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x"+Extension)
	require.NoError(t, os.WriteFile(name, []byte(`apiVersion: csisim.dev/v1alpha1
kind: Replay
scenario: x.yaml
digest: sha256:0
finding: n
faults: [lsot]
choices:
- {kind: fault, nth: -1, takes: answer lost}
`), 0o600))
	_, err := Load(name)
	require.Error(t, err)
	assert.Contains(t, err.Error(), name+`:6:10: faults[0]: found fault "lsot", want one of lost, error, late, repeat, kill`)
	assert.Contains(t, err.Error(), name+":8:22: choices[0].nth: found -1, want a number from 1")
}

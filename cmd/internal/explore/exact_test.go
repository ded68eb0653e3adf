package explore

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/seeded"
)

// Given a scenario that waits for a state that passes by itself, when faults leave it out, then nothing is wrong: the scenario expects it too
// exactly.
func TestWhatPassesIsExpectedTooExactly(t *testing.T) {
	f := findIn(t, "../../../scenarios/csi-addons/replication-destination.yaml", fault.Lost, "'destination info pending retrieval'")
	assert.Equal(t, verdict.Scenario, f.Blame)
	assert.False(t, f.Never)
	assert.False(t, f.Fails())
}

// Given a scenario that waits for a call, when all is as it should be without it, then the scenario expects it too exactly; when Kubernetes leaves
// something behind, as a provisioner that dies before it has written its volume does, then that is what is wrong.
func TestACallThatNeverComesIsJudgedByWhatItIsFor(t *testing.T) {
	f := findIn(t, "../../../scenarios/facts/claim-deleted-in-create.yaml", fault.API, "DeleteVolume")
	assert.Equal(t, verdict.Scenario, f.Blame)
	assert.False(t, f.Fails())

	f = findIn(t, "../../../scenarios/delete-while-provisioned.yaml", fault.Crashed, "DeleteVolume, code OK")
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.Contains(t, f.Left, "left behind: volume vol-0001")
	assert.False(t, f.Fails())
}

// Given a job of CSI-Addons whose calls fail, when it has ended in another way than the scenario waits for, then it stays so, which is known.
// A-RS-3 A-EKR-1
func TestAJobThatHasEndedStaysAsItIs(t *testing.T) {
	f := findIn(t, "../../../scenarios/csi-addons/key-rotation.yaml", fault.Lost, "object.status.retries == 1")
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.True(t, f.Never)
	require.NotEmpty(t, f.Hazards)
	assert.Equal(t, []string{"A-RS-3", "A-EKR-1"}, f.Hazards[len(f.Hazards)-1].Rules)
	assert.False(t, f.Fails())
}

// Given a kubelet that does not write a status again which the API server has not taken, when an expression waits for a state that stays in the calm
// run, then that it never comes about is not the scenario's fault.
func TestWhatStaysIsNotExpectedTooExactly(t *testing.T) {
	seeded.Plant(t, seeded.StatusWrittenOnce)
	o := usual(1)
	o.Space.Kinds = []fault.Kind{fault.API}
	text := strings.Replace(string(textOf(t, "lifecycle")), "{pod: web, phase: Running}", `{pod: web, that: "object.status.phase == 'Running'"}`, 1)
	f := findWith(t, mistake{want: "timed out waiting for the condition: pod … such that object.status.phase == 'Running'", scenario: "lifecycle"}, []byte(text), o)
	s := &Search{options: o, file: fileOf("lifecycle"), text: []byte(text)}
	s.waitLonger(context.Background(), f)
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.True(t, f.Never)
	assert.True(t, f.Fails())
}

// findIn is the finding of a scenario's search for one kind of fault whose verdict has a text.
func findIn(t *testing.T, file string, happens fault.Kind, words string) *Finding {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	o := usual(40)
	o.Space.Kinds = []fault.Kind{happens}
	s, err := Of(context.Background(), file, text, o)
	require.NoError(t, err)
	i := slices.IndexFunc(s.Findings, func(f *Finding) bool { return strings.Contains(f.Text, words) })
	require.GreaterOrEqual(t, i, 0, "%s is not among %v", words, namesOf(s.Findings))
	return s.Findings[i]
}

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

// Given a scenario that waits for a transient state, when faults skip this state, then the scenario
// is responsible, because its expectation is too strict.
func TestATransientStateIsExpectedTooExactly(t *testing.T) {
	f := findIn(t, "../../../scenarios/csi-addons/replication-destination.yaml", fault.Lost, "'destination info pending retrieval'")
	assert.Equal(t, verdict.Scenario, f.Blame)
	assert.False(t, f.Never)
	assert.False(t, f.Fails())
}

// Given a scenario that waits for a call, when the run is correct without this call, then the
// expectation is too strict. When Kubernetes leaves something behind, like a provisioner that is
// killed before it has written its volume, then the leftover is the failure.
func TestAMissingCallIsJudgedByItsPurpose(t *testing.T) {
	f := findIn(t, "../../../scenarios/facts/claim-deleted-in-create.yaml", fault.API, "DeleteVolume")
	assert.Equal(t, verdict.Scenario, f.Blame)
	assert.False(t, f.Fails())

	f = findIn(t, "../../../scenarios/delete-while-provisioned.yaml", fault.Crashed, "DeleteVolume, code OK")
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.Contains(t, f.Left, "left behind: volume vol-0001")
	assert.False(t, f.Fails())
}

// Given a job of CSI-Addons with failing calls, when the job has ended in a state other than the
// awaited one, then it keeps this state, which is a known hazard. A-RS-3 A-EKR-1
func TestAnEndedJobNeverChanges(t *testing.T) {
	f := findIn(t, "../../../scenarios/csi-addons/key-rotation.yaml", fault.Lost, "object.status.retries == 1")
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.True(t, f.Never)
	require.NotEmpty(t, f.Hazards)
	assert.Equal(t, []string{"A-RS-3", "A-EKR-1"}, f.Hazards[len(f.Hazards)-1].Rules)
	assert.False(t, f.Fails())
}

// Given a kubelet that does not repeat a status update that the API server rejected, when an
// expression waits for a state that the calm run keeps, then the scenario is not responsible for
// the timeout.
func TestALastingStateIsNotExpectedTooExactly(t *testing.T) {
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

// findIn searches a scenario for one kind of fault and returns the finding with words in its
// verdict.
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

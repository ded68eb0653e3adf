package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// The reduced scenario of a finding contains only the required steps of a volume's life, and one
// node.
func TestAFindingKeepsItsNecessarySteps(t *testing.T) {
	o := usual(12)
	o.Space.Kinds = []fault.Kind{fault.Repeated}
	s := search(t, "lifecycle", o, "create-not-idempotent")
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.NotNil(t, f.Scenario)
	assert.Equal(t, 1, f.Steps, string(f.Scenario))
	assert.NotContains(t, string(f.Scenario), "kind: Pod")
	assert.Contains(t, string(f.Scenario), "cluster: {nodes: 1}")
	replay := explore.NewReplay(f.Choices)
	result := rerun(t, "lifecycle", f.Scenario, replay)
	assert.Empty(t, replay.Unfit())
	assert.NotNil(t, Shows(result, f.Name))

	later := strings.Replace(string(f.Scenario), "cluster: {nodes: 1}", "cluster: {nodes: 3}", 1)
	loose := explore.NewLooseReplay(f.Choices)
	assert.NotNil(t, Shows(rerun(t, "lifecycle", []byte(later), loose), f.Name), "after a small change, too: %s", loose.Unfit())

	file, err := s.FileOf(f, t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, string(f.Scenario), file.Text)
}

// The driver is not responsible for actions of a user in a run, unless it breaks the CSI spec.
func TestActionsOfAUserAreNoFaultOfTheDriver(t *testing.T) {
	o := usual(30)
	o.Space.Kinds = []fault.Kind{fault.User}
	for _, f := range search(t, "lifecycle", o).Findings {
		assert.Contains(t, []verdict.Blame{verdict.User, verdict.Kubernetes}, f.Blame, f.Name)
	}
	found := search(t, "lifecycle", o, "unpublish-not-idempotent")
	for _, f := range found.Findings {
		if strings.Contains(f.Name, "is not idempotent") {
			assert.Equal(t, verdict.Driver, f.Blame)
		}
	}
}

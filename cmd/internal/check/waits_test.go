package check

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim"
)

// A driver that always answers ABORTED may still be working, because the run waited only for a
// limited time.
func TestAFindingSaysThatItMayDependOnAWait(t *testing.T) {
	waits := []sim.Wait{{For: "NodeUnpublishVolume, answered with ABORTED", Took: 30 * time.Second}}
	for code, want := range map[string]string{
		"Aborted":  "waited 30 s of real time for the driver: 30 s for NodeUnpublishVolume, answered with ABORTED, which this may depend on; --wait-for-driver waits longer",
		"Internal": "",
	} {
		f := Finding{
			Verdict: verdict.Verdict{Form: contract.FailsForGood, Code: code},
			Shown:   []Outcome{{Result: &scenario.Result{Waits: waits}}},
		}
		assert.Equal(t, want, f.overdue(), code)
	}
}

// The last line of a check reports that an exceeded patience affected a trial, even if every trial
// passed.
func TestTheLastLineCountsTheCallsThatExceededThePatience(t *testing.T) {
	last := func(overdue ...string) string {
		c := &Card{Facts: &Facts{Name: "a"}, Outcomes: []Outcome{{Trial: &Trial{}, Result: &scenario.Result{Exit: scenario.Passed, Calls: 3, Overdue: overdue}}}}
		var text strings.Builder
		require.NoError(t, c.Text(&text, report.Terminal{}))
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		return lines[len(lines)-1]
	}
	assert.NotContains(t, last(), "patience")
	assert.Contains(t, last("CreateVolume pvc-1", "NodeStageVolume pvc-1"), " · the patience ran out for 2 calls: results may depend on the load of this machine")
}

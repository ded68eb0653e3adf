package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim"
)

// A driver that answers ABORTED for good may still work: the run waited for it only so long.
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

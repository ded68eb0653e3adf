package report

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// totals are the sums over all runs.
type totals struct {
	passed, failed, impossible, notTried, calls int
	overdue                                     int // calls that exceeded the patience
	virtual, waited                             time.Duration
}

func (t *totals) add(run Run) {
	switch {
	case run.NotTried != "":
		t.notTried++
	case run.Passed():
		t.passed++
	case run.Err != nil:
		t.impossible++
	default:
		t.failed++
	}
	if run.Result != nil {
		t.calls += run.Result.Calls
		t.virtual += run.Result.VirtualTime
		t.overdue += len(run.Result.Overdue)
		t.waited += unfinished.Total(run.Result.Waits)
	}
}

// line returns the last line: 14 scenarios: 14 passed, 0 failed · 312 driver calls · 21 min of
// cluster time in 0.4 s.
func (t *totals) line(planned int, wall time.Duration) string {
	ended := t.passed + t.failed + t.impossible + t.notTried
	text := fmt.Sprintf("%s: %d passed, %d failed", plural.Of(max(ended, planned), "scenario"), t.passed, t.failed)
	if t.impossible > 0 {
		text += fmt.Sprintf(", %d could not run", t.impossible)
	}
	if t.notTried > 0 {
		text += fmt.Sprintf(", %d not tried", t.notTried)
	}
	if left := planned - ended; left > 0 {
		text += fmt.Sprintf(", %d not run", left)
	}
	text += fmt.Sprintf(" · %s · %s of cluster time in %s", plural.Of(t.calls, "driver call"), trace.Span(t.virtual), trace.Span(wall))
	if t.waited > 0 {
		text += fmt.Sprintf(", %s of which it waited for the driver", trace.Span(t.waited))
	}
	return text + scenario.OverdueInTotal(t.overdue)
}

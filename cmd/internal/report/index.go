package report

import (
	"path/filepath"
	"time"

	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// Index lists runs of scenarios, with their reports.
func Index(runs []Run) index.Page {
	var total totals
	var wall time.Duration
	group := index.Group{Title: "Scenarios"}
	for _, run := range runs {
		total.add(run)
		shown := index.Run{Name: scenarioName(run), State: index.Passed, File: filepath.Base(run.Page)}
		if run.Result != nil {
			shown.Took, wall = trace.Span(run.Result.WallTime), wall+run.Result.WallTime
		}
		switch {
		case run.NotTried != "":
			shown.State, shown.Why, shown.File = index.NotTried, firstLine(run.NotTried), ""
		case run.Err != nil:
			shown.State, shown.Why = index.Failed, firstLine(run.Err.Error())
		case !run.Passed():
			shown.State, shown.Why = index.Failed, excerpt.Paths(firstLine(run.Result.Failures[0].Verdict.Text))
		}
		group.Runs = append(group.Runs, shown)
	}
	return index.Page{Title: "csisim run", Summary: total.line(len(runs), wall), Failed: total.failed+total.impossible > 0, Groups: []index.Group{group}}
}

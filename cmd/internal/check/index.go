package check

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// Index returns the card as an index of reports. page returns the file of a trial's report; empty
// for none.
func (c *Card) Index(page func(*Trial) string) (view.Index, error) {
	found := c.Findings()
	var text strings.Builder
	if err := c.Text(&text, report.Terminal{}); err != nil {
		return view.Index{}, err
	}
	t := c.Totals()
	index := view.Index{
		Title: strings.TrimSpace(c.Facts.Name + " " + c.Facts.Version), Failed: t.Failed > 0, Text: text.String(),
		Summary: fmt.Sprintf("%d passed, %d failed, %d known, %d not tried · %d driver calls · %s of cluster time in %s",
			t.Passed, t.Failed, t.Known, t.NotTried, t.Calls, trace.Span(t.ClusterTime), trace.Span(c.Took)),
	}
	for _, f := range found {
		index.Findings = append(index.Findings, view.IndexFinding{
			Name: f.title(), Detail: excerpt.Paths(f.detail()), Harm: f.Harm.String(), Runs: len(f.Shown), Known: f.Known, Replay: c.replayOf(f), File: page(f.Shown[0].Trial),
		})
	}
	for _, line := range c.Lines() {
		group := view.IndexGroup{Title: line.Title}
		for _, o := range line.Outcomes {
			group.Runs = append(group.Runs, indexRun(o, found, page))
		}
		index.Groups = append(index.Groups, group)
	}
	return index, nil
}

func indexRun(o Outcome, found []Finding, page func(*Trial) string) view.IndexRun {
	run := view.IndexRun{Name: o.Name(), State: view.Passed, File: page(o.Trial)}
	switch {
	case !o.Tried():
		run.State, run.Why = view.NotTried, o.NotTried
	case o.Failed() && OnlyKnown(found, o.Trial):
		run.State = view.Known
	case o.Failed():
		run.State = view.Failed
	}
	var names []string
	for _, f := range FindingsOf(found, o.Trial) {
		names = append(names, f.title())
	}
	if len(names) > 0 {
		run.Why = strings.Join(names, "; ")
	}
	if o.Result != nil {
		run.Took = trace.Span(o.Result.WallTime)
	}
	return run
}

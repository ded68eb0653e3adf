package check

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/trace"
)

// Index returns the card as an index of reports. page returns the file of a trial's report; empty
// for none.
func (c *Card) Index(page func(*Trial) string) (index.Page, error) {
	found := c.Findings()
	var text strings.Builder
	if err := c.Text(&text, report.Terminal{}); err != nil {
		return index.Page{}, err
	}
	t := c.Totals()
	all := index.Page{
		Title: c.title(), Failed: t.Failed > 0, Text: text.String(),
		Summary: fmt.Sprintf("%d passed, %d failed, %d known, %d not tried · %d driver calls · %s of cluster time in %s%s",
			t.Passed, t.Failed, t.Known, t.NotTried, t.Calls, trace.Span(t.ClusterTime), trace.Span(c.Took), scenario.OverdueInTotal(t.Overdue)),
	}
	for _, f := range found {
		all.Findings = append(all.Findings, index.Finding{
			Name: f.title(), Detail: f.detail(), Harm: f.Harm.String(), Runs: len(f.Shown), Known: f.Known, Replay: c.replayOf(f), File: page(f.Shown[0].Trial),
		})
	}
	for _, line := range c.Lines() {
		group := index.Group{Title: line.Title}
		for _, o := range line.Outcomes {
			group.Runs = append(group.Runs, indexRun(o, found, page))
		}
		all.Groups = append(all.Groups, group)
	}
	return all, nil
}

// title names the driver and its release, or both releases of an upgrade.
func (c *Card) title() string {
	version := c.Facts.Version
	if c.Upgrade != nil {
		version = c.Upgrade.Old.Version + " → " + c.Upgrade.New.Version
	}
	return strings.TrimSpace(c.Facts.Name + " " + version)
}

func indexRun(o Outcome, found []Finding, page func(*Trial) string) index.Run {
	run := index.Run{Name: o.Name(), State: index.Passed, File: page(o.Trial)}
	switch {
	case !o.Tried():
		run.State, run.Why = index.NotTried, o.NotTried
	case o.Failed() && OnlyKnown(found, o.Trial):
		run.State = index.Known
	case o.Failed():
		run.State = index.Failed
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

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// indexed adds a search to the index of reports; pages are the reports on its findings.
func (x *exploring) indexed(s *scenario.Scenario, found *explore.Search, replays, pages []string) {
	x.runs += found.Runs
	group := index.Group{Title: fmt.Sprintf("%s · %s, %s", s.Name, plural.Of(found.Runs, "run"), reachedBy(found))}
	for i, f := range found.Findings {
		file := ""
		if pages[i] != "" { // an interrupt leaves reports out
			file = filepath.Base(pages[i])
		}
		heading := strings.ToLower(headings[f.Blame])
		// The finding is an explained hazard, or an expectation that depends on the order.
		state := index.Known
		if f.Fails() {
			state = index.Failed
		}
		group.Runs = append(group.Runs, index.Run{Name: fmt.Sprintf("%s %d", heading, i+1), State: state, Why: f.Text, File: file, Took: plural.Of(f.Runs, "run")})
		one := index.Finding{Name: f.Text, Detail: s.Name, Harm: heading, Runs: f.Runs, File: file, Known: !f.Fails()}
		if replays[i] != "" {
			one.Replay = self() + " replay " + report.Quoted(replays[i])
		}
		x.index.Findings = append(x.index.Findings, one)
	}
	for _, statement := range found.Never() {
		group.Runs = append(group.Runs, index.Run{Name: "never", State: index.Failed, Why: statement})
	}
	if len(group.Runs) == 0 {
		group.Runs = append(group.Runs, index.Run{Name: s.Name, State: index.Passed, Took: trace.Span(found.Elapsed)})
	}
	x.index.Groups = append(x.index.Groups, group)
}

// indexedCalm adds a scenario that fails without any fault to the index of reports.
func (x *exploring) indexedCalm(s *scenario.Scenario, run report.Run, page string) {
	calm := report.Index([]report.Run{run}).Groups[0]
	calm.Title, calm.Runs[0].Name, calm.Runs[0].File = s.Name, "calm run", filepath.Base(page)
	x.index.Groups = append(x.index.Groups, calm)
}

// writeIndex writes the index of reports, if reports are requested.
func (x *exploring) writeIndex(ctx context.Context) error {
	if x.flags.reports == "" {
		return nil
	}
	page := x.index
	page.Title, page.Failed, page.Interrupted = "csisim explore", x.code == exitFailed, ctx.Err() != nil
	page.Summary = fmt.Sprintf("%s · %s, %s", plural.Of(len(page.Groups), "scenario"), plural.Of(x.runs, "run"), plural.Of(page.Count(index.Failed), "finding"))
	return writeIndex(x.flags.reports, page)
}

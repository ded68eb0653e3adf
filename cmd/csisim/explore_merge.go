package main

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// showMergedSearch prints one report on all shards of a search.
func showMergedSearch(env environment, dir string) error {
	m, err := explore.ReadMerged(dir)
	if err != nil {
		return usage("--merge: %w", err)
	}
	code := 0
	var out strings.Builder
	for _, s := range m.Searches {
		fmt.Fprintf(&out, "%s  %s of %s, strategy %s, seed %d, %d kept\n", s.Scenario, plural.Of(s.Runs, "run"), plural.Of(s.Shards, "shard"), s.Strategy, s.Seed, s.Kept)
		if len(s.Missing) > 0 {
			code = exitEnvironment
			fmt.Fprintf(&out, "  no corpus of shard %s: its runs are not in this report\n", strings.Trim(fmt.Sprint(s.Missing), "[]"))
		}
	}
	for i, f := range m.Findings {
		heading := "FINDING"
		if f.Hazard {
			heading = "HAZARD"
		} else {
			code = exitFailed
		}
		fmt.Fprintf(&out, "\n%s %d  %s\n  %s\n  replay: %s replay %s\n", heading, i+1, f.Finding, excerpt.Paths(firstLine(f.Verdict)), self(), report.Quoted(f.Path))
	}
	if _, err := fmt.Fprint(env.stdout, trace.Escaped(out.String())); err != nil {
		return &failure{code: exitEnvironment, err: err}
	}
	return reported(code)
}

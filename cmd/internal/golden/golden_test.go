// Package golden_test compares simulated runs with the recordings of a real cluster in
// scenarios/golden.
package golden_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

var update = flag.Bool("update", false, "write the table of results into docs/reference/golden.md")

const page = "../../docs/reference/golden.md"

func TestMain(m *testing.M) {
	if err := os.Chdir("../../../scenarios/golden"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestSimulatedRunsEqualTheRecordings runs the scenario of each recording and compares the traces
// on every level. The list of open differences contains exactly the levels that differ, each with a
// reason.
func TestSimulatedRunsEqualTheRecordings(t *testing.T) {
	found, open := map[string]*diff.Report{}, readOpen(t)
	for _, name := range recordings(t) {
		if !exists(name + ".yaml") {
			assert.Contains(t, open, name, "the recording has no scenario")
			continue
		}
		t.Run(name, func(t *testing.T) {
			report := diff.Compare(recorded(t, name), simulated(t, name, len(open[name]) > 0))
			found[name] = report
			for _, level := range diff.Levels {
				reason, isOpen := open[name][level]
				switch differs := len(report.Of(level)) > 0; {
				case differs && !isOpen:
					t.Errorf("%s differ from the recording:\n%s", level, described(t, report))
				case !differs && isOpen && *update:
					delete(open[name], level)
				case !differs && isOpen:
					t.Errorf("%s agree with the recording now: make golden takes them off the list: %s", level, reason)
				}
			}
		})
	}
	if *update {
		writeOpen(t, open)
	}
	compareTable(t, found, open)
}

func recordings(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file, ".jsonl"))
	}
	return names
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

func recorded(t *testing.T, name string) []trace.Line {
	t.Helper()
	file, err := os.Open(name + ".jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines, err := trace.Read(file)
	require.NoError(t, err)
	return lines
}

// simulated returns the trace of the scenario in the form that csisim run --trace writes.
func simulated(t *testing.T, name string, mayFail bool) []trace.Line {
	t.Helper()
	s, err := scenario.Load(name + ".yaml")
	require.NoError(t, err)
	var out bytes.Buffer
	sink, flush := trace.Writer(&out)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Sinks: []trace.Sink{sink}})
	require.NoError(t, err)
	require.NoError(t, flush())
	for _, f := range result.Failures {
		t.Log(f.Text(result.Names))
		assert.True(t, mayFail, "the scenario fails")
	}
	lines, err := trace.Read(&out)
	require.NoError(t, err)
	return lines
}

func described(t *testing.T, r *diff.Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.Text(&out, diff.TextOptions{A: "recorded", B: "simulated", Width: 160}))
	return out.String()
}

// compareTable compares docs/reference/golden.md with the results.
func compareTable(t *testing.T, found map[string]*diff.Report, open openList) {
	t.Helper()
	if t.Failed() && !*update {
		return
	}
	if len(found) < 2 {
		return // only some scenarios were run
	}
	want := table(t, found, open)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	fmt.Print(onlyTable(want))
	is, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, withoutSeeds(want), withoutSeeds(string(is)), "make golden writes it anew")
}

func table(t *testing.T, found map[string]*diff.Report, open openList) string {
	var out strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	write(`# Simulated runs against recordings

Each recording of a real cluster in scenarios/golden has a scenario of the same name beside it. Its simulated run is
compared with the recording on every level of [csisim diff](diff.md). ✓: equal; ✗: different; –: nothing to compare.
This page is made by ` + "`make golden`" + `.
`)
	write("| Recording | Scenario | %s |", strings.Join(levelNames(), " | "))
	write("| --- | --- |%s", strings.Repeat(" --- |", len(diff.Levels)))
	equal := 0
	for _, name := range recordings(t) {
		report, cells := found[name], []string(nil)
		for _, level := range diff.Levels {
			cells = append(cells, mark(report, level))
		}
		if report != nil && report.Equal() {
			equal++
		}
		write("| %s | %s | %s |", name, description(t, name), strings.Join(cells, " | "))
	}
	write("\n%d of %d are equal on all levels.", equal, len(recordings(t)))
	out.WriteString(raceSection(t))
	if len(open) > 0 {
		write("\n## Open differences\n")
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		for _, level := range diff.Levels {
			if reason, ok := open[name][level]; ok {
				write("- %s, %s: %s", name, level, reason)
			}
		}
		if !exists(name + ".yaml") {
			write("- %s: no scenario yet", name)
		}
	}
	return out.String()
}

// description returns the description in the scenario of a recording; empty if there is no scenario
// yet.
func description(t *testing.T, name string) string {
	t.Helper()
	if !exists(name + ".yaml") {
		return ""
	}
	s, err := scenario.Load(name + ".yaml")
	require.NoError(t, err)
	assert.NotEmpty(t, s.Description, "%s: the scenario in one sentence", name)
	return s.Description
}

func levelNames() (all []string) {
	for _, level := range diff.Levels {
		all = append(all, string(level))
	}
	return all
}

func mark(report *diff.Report, level diff.Level) string {
	switch {
	case report == nil:
		return " "
	case len(report.Of(level)) > 0:
		return "✗"
	case report.Compared[level] == 0:
		return "–"
	default:
		return "✓"
	}
}

// onlyTable returns the page without its introduction, for the terminal.
func onlyTable(page string) string {
	_, rest, _ := strings.Cut(page, "\n| Recording")
	return "| Recording" + rest
}

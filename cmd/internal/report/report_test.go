package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// clock advances by 100 ms whenever it is read.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(100 * time.Millisecond)
		return now
	}
}

func passed() report.Run {
	return report.Run{File: "scenarios/basic.yaml", Result: &scenario.Result{
		Scenario: &scenario.Scenario{Name: "basic"}, VirtualTime: 20 * time.Minute, WallTime: 12 * time.Millisecond, Calls: 30, Exit: scenario.Passed,
		Notes:  []string{"could not be looked at: a", "could not be looked at: /var/lib/kubelet/plugins/kubernetes.io/csi/x/globalmount", "c", "d"},
		Litter: []string{"left behind: directory a; the kubelet's own litter"},
	}}
}

func failed() report.Run {
	var trail []*trace.Event
	for i := range 11 {
		trail = append(trail, trace.Entry{Kind: trace.Step, Seq: uint64(i + 1), At: time.Duration(i) * 100 * time.Millisecond, Message: "step " + string(rune('a'+i))}.Event())
	}
	return report.Run{
		File: "scenarios/it's lost.yaml", Strategy: "random", Seed: 7, Trace: "out.jsonl", Flags: []string{"--until", "3"},
		Result: &scenario.Result{
			Scenario: &scenario.Scenario{Name: "lost"}, Apart: "by directories only, nothing can be mounted", VirtualTime: time.Minute, WallTime: 3 * time.Millisecond, Calls: 1, Exit: scenario.Failed,
			Trace: trail,
			Steps: []scenario.StepResult{{Number: 1, Title: "wait pod web"}},
			Failures: []scenario.Failure{{
				Verdict: verdict.Plain("NodePublishVolume is not idempotent: vol-1 at /mnt"), Step: 1, File: "scenarios/it's lost.yaml", Line: 42,
				Expected: "pod web Running", Got: "phase Pending\nReady False", Trail: trail, Hint: "answer OK if it is mounted already",
			}},
		},
	}
}

func impossible() report.Run {
	return report.Run{File: "scenarios/program.yaml", Err: errors.New("start driver: no such file")}
}

func runs() []report.Run { return []report.Run{passed(), failed(), impossible()} }

func text(t *testing.T, o report.Options, runs ...report.Run) string {
	t.Helper()
	var out bytes.Buffer
	o.Now = clock()
	require.NoError(t, printed(&out, runs, o))
	return out.String()
}

// A failure is reported in the order: verdict, events before it, expected and got, hint, replay,
// trace.
func TestTextShowsAllRunsAndTheirFailures(t *testing.T) {
	workspace, err := filepath.Abs(".")
	require.NoError(t, err)
	for name, options := range map[string]report.Options{
		"pipe":     {},
		"verbose":  {Verbose: true},
		"terminal": {Terminal: report.Terminal{Live: true, Color: true, Width: 100}},
		"github":   {Workspace: workspace, Planned: 4, Exists: func(file string) bool { return file != "scenarios/program.yaml" }},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "text-"+name+".txt", text(t, options, runs()...))
		})
	}
}

func TestJUnitHoldsACaseForEachScenario(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.JUnit(&out, runs()))
	golden(t, "junit.xml", out.String())
	assert.NoError(t, xml.Unmarshal(out.Bytes(), new(struct{})), "it is well-formed")
}

// Names and messages of any length leave the report readable; the JSON report has them in full.
func TestLongNamesDoNotFillTheReport(t *testing.T) {
	long := strings.Repeat("n", 10_000)
	run := failed()
	run.Result.Scenario.Name, run.Result.Steps[0].Title = long, long
	run.Result.Failures[0].Verdict.Text, run.Result.Failures[0].Hint, run.Result.Failures[0].Got = long, long, long
	run.Result.Failures[0].Trail[10].Message = long
	for line := range strings.Lines(text(t, report.Options{}, run)) {
		assert.Less(t, len(line), 1200)
	}
	var out bytes.Buffer
	require.NoError(t, report.JSON(&out, []report.Run{run}, 1))
	assert.Contains(t, out.String(), `"name": "`+long+`"`)
}

func TestJSONHoldsEachScenarioWithItsFailures(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, report.JSON(&out, runs(), 4))
	golden(t, "report.json", out.String())
	out.Reset()
	require.NoError(t, report.JSON(&out, nil, 2))
	assert.Contains(t, out.String(), `"scenarios": []`)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "run with -update if this is right")
}

// On a terminal the next status line replaces the last; a pipe gets only results.
func TestProgressIsShownOnATerminalOnly(t *testing.T) {
	progress := func(o report.Options) string {
		var out bytes.Buffer
		o.Now = clock()
		p := report.NewPrinter(&out, o)
		p.Started("basic")
		p.Progress(scenario.StepResult{Number: 2, Title: "wait pod web"})
		p.Finished(passed())
		require.NoError(t, p.Summary())
		return out.String()
	}
	assert.Regexp(t, `^• basic\r\x1b\[K• basic  step 2: wait pod web\r\x1b\[K✓ basic`, progress(report.Options{Terminal: report.Terminal{Live: true, Width: 80}}))
	piped := progress(report.Options{})
	assert.Regexp(t, `^PASS basic`, piped)
	assert.NotContains(t, piped, "\x1b")
}

func TestTheSummaryCountsPlannedRunsThatDidNotHappen(t *testing.T) {
	assert.Contains(t, text(t, report.Options{Planned: 3}, passed()),
		"3 scenarios: 1 passed, 0 failed, 2 not run · 30 driver calls · 20 min of cluster time in 100 ms\n")
}

// The last line reports that an exceeded patience affected a run, even if the run passed. On a
// machine with another load, the run may differ.
func TestSummaryCountsTheCallsThatExceededThePatience(t *testing.T) {
	run := passed()
	run.Result.Overdue = []string{"CreateVolume pvc-1", "NodeStageVolume pvc-1"}
	assert.Contains(t, text(t, report.Options{}, run),
		"1 scenario: 1 passed, 0 failed · 30 driver calls · 20 min of cluster time in 100 ms"+
			" · the patience ran out for 2 calls: results may depend on the load of this machine\n")
}

// A replay command can be pasted into a shell.
func TestReplayIsACommandForTheShell(t *testing.T) {
	assert.Equal(t, "csisim run scenarios/basic.yaml", passed().Replay())
	assert.Equal(t, `csisim run 'scenarios/it'\''s lost.yaml' --strategy random --seed 7 --until 3`, failed().Replay())
}

// GitHub interprets percent signs and line ends. In properties it also interprets colons and
// commas.
func TestAnnotationEscapesItsText(t *testing.T) {
	assert.Equal(t, "::error file=/elsewhere/a%2Cb.yaml,line=3,col=5,title=x%3A y::100%25%0Asecond\n",
		report.Annotation("/workspace", "/elsewhere/a,b.yaml", 3, 5, "x: y", "100%\nsecond"))
	assert.Equal(t, "::error file=dir/a.yaml::m\n", report.Annotation("/workspace", "/workspace/dir/a.yaml", 0, 0, "", "m"))
}

func TestAPipeIsNoTerminal(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	assert.Equal(t, report.Terminal{}, report.TerminalOf(write, func(string) string { return "" }))
}

// Verdicts and values quote drivers. This text must not act as a workflow command, and must not
// change colours.
func TestTextOfDriversIsNoCommand(t *testing.T) {
	hostile := failed()
	f := &hostile.Result.Failures[0]
	f.Verdict, f.Got = verdict.Plain("no\n  ::error::a"), "##[error]b\n::error::c\x1b[31md"
	var out bytes.Buffer
	require.NoError(t, printed(&out, []report.Run{hostile}, report.Options{
		Terminal: report.Terminal{Color: true}, Workspace: "/w", Exists: func(string) bool { return true },
	}))
	commands := 0
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			commands++
			assert.True(t, strings.HasPrefix(line, "::error file=scenarios/it's lost.yaml,"), line)
		}
	}
	assert.Equal(t, 1, commands)
	assert.NotContains(t, strings.SplitN(out.String(), "::error file", 2)[0], "##[")
	assert.NotContains(t, out.String(), "\x1b[31m")
}

// printed writes a report of runs that have ended.
func printed(w io.Writer, runs []report.Run, o report.Options) error {
	p := report.NewPrinter(w, o)
	for _, run := range runs {
		p.Finished(run)
	}
	return p.Summary()
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// The output of parallel runs, including timelines, is the same as that of sequential ones.
func TestSimultaneousRunsAreReportedInOrder(t *testing.T) {
	wall := regexp.MustCompile(`( in | · )[0-9.]+ m?s\b`)
	seen := func(parallel string) string {
		got := clitest.Run(t, "run", "-v", "../../scenarios/conformance", "testdata/scenarios", "--parallel", parallel)
		assert.Equal(t, 3, got.Code, got.Stderr) // one of them cannot pass
		return regexp.MustCompile(` --parallel \d`).ReplaceAllString(wall.ReplaceAllString(got.Stdout, ""), "")
	}
	assert.Equal(t, seen("1"), seen("4"))
}

func TestTheJSONReportHasEachScenario(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out", "report.json")
	got := clitest.Run(t, "run", "testdata/scenarios", "--parallel", "2", "--json", file, "--seed", "3")
	assert.Equal(t, 3, got.Code, got.Stderr) // one of them cannot pass
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var report struct {
		Planned, Passed, Failed, Errors int
		Scenarios                       []struct {
			Name, File, Verdict, Replay string
			Seconds, ClusterSeconds     float64
			Failures                    []struct {
				Verdict, File, Expected, Got string
				Line                         int
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &report))
	assert.Equal(t, report.Planned, report.Passed+report.Failed+report.Errors)
	require.Len(t, report.Scenarios, report.Planned)
	for _, s := range report.Scenarios {
		assert.Contains(t, s.Replay, " run "+s.File+" --strategy random --seed 3")
		switch s.Verdict {
		case "passed":
			assert.Positive(t, s.Seconds, s.Name)
			assert.Empty(t, s.Failures)
		case "failed":
			require.NotEmpty(t, s.Failures)
			assert.Equal(t, s.File, s.Failures[0].File)
			assert.Positive(t, s.Failures[0].Line)
		}
	}
	assert.Positive(t, report.Failed)
}

func TestBadFlagsOfReportsAndParallelRuns(t *testing.T) {
	for args, want := range map[string]string{
		"--parallel=0":         "--parallel 0: it must be at least 1",
		"--json=/proc/no.json": "--json /proc/no.json: no report can be written there",
	} {
		got := clitest.Run(t, "run", "testdata/scenarios", args)
		assert.Equal(t, 2, got.Code)
		assert.Contains(t, got.Stderr, want)
	}
}

// An interrupt ends all parallel runs, leaves nothing behind, and reports the finished runs.
func TestAnInterruptEndsAllParallelRuns(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	for _, name := range []string{"a", "b", "c"} {
		p.Write(name+".yaml", clitest.Header+clitest.BadDriver("hangs in CreateVolume", "10s"))
	}
	run := p.Command("run", "a.yaml", "b.yaml", "c.yaml", "--parallel", "3", "--patience", "1m", "--json", "report.json", "--isolation", "none")
	require.NoError(t, run.Start())
	time.Sleep(2 * time.Second) // at any stage
	require.NoError(t, run.Process.Signal(syscall.SIGINT))
	_ = run.Wait()
	assert.Equal(t, 130, run.ProcessState.ExitCode())
	left, err := os.ReadDir(p.Work)
	require.NoError(t, err)
	assert.Empty(t, left)
	text, err := os.ReadFile(filepath.Join(p.Dir, "report.json"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"planned": 3`)
}

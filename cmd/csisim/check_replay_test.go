package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// failedTrials returns the replays and verdicts of the failed trials in a JSON card.
func (p *place) failedTrials(t *testing.T, card string) (failed []failedTrial) {
	t.Helper()
	var read struct{ Trials []failedTrial }
	text, err := os.ReadFile(filepath.Join(p.Dir, card))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	for _, trial := range read.Trials {
		if trial.Outcome == "failed" {
			failed = append(failed, trial)
		}
	}
	return failed
}

type failedTrial struct {
	Name, Outcome, Replay string
	Failures              []struct{ Verdict string }
}

// shell runs a command line as if a user pasted it into a shell.
func (p *place) shell(t *testing.T, line string) clitest.Outcome {
	t.Helper()
	c := p.Command("check")
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", line}
	return outcomeOf(t, c)
}

// With every combination of driver flags, the replay command of a failure reproduces the failure.
func TestEveryReplayShowsItsFailureAgain(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	const only = "--json card.json --only repeated/* --only lost/NodeStageVolume "
	p.Write("my driver.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: own.example.com\nbinary: {name: hostdir}\n"+
		"arguments: ['--endpoint={{.Endpoint}}', '--driver-name={{.Driver}}', '--mode={{.Mode}}', '--node-id={{.NodeID}}', '--state-dir={{.StateDir}}', "+
		"'--node-state-dir={{.NodeStateDir}}', '--broken=stage-not-idempotent']\n")
	odd := []string{"--env", "A=1", "--env", `B=it's "so", really=$HOME`, "--env", "C=", "--parameter", "type=fast,big", "--parameter", "a=b", "--attribute", "path=/x y"}
	for name, args := range map[string][]string{
		"environment, parameters and attributes": odd,
		"a seed, a patience, a start timeout":    {"--seed", "7", "--patience", "3s", "--start-timeout", "20s"},
		"one process":                            {"--single", "--isolation", "namespace"},
		"a profile and a binary":                 {"--profile", "./my driver.yaml", "--binary", filepath.Join(p.Bin, "hostdir"), "--parameter", "a=b"},
	} {
		t.Run(name, func(t *testing.T) {
			args = append(append([]string{"check"}, strings.Fields(only)...), args...)
			if !strings.Contains(name, "profile") {
				args = append(append(append(args, "--"), checkedDriver...), "--broken", "stage-not-idempotent")
			}
			first := outcomeOf(t, p.Command(args...))
			require.Equal(t, 1, first.Code, first.Stdout+first.Stderr)
			failed := p.failedTrials(t, "card.json")
			require.GreaterOrEqual(t, len(failed), 3, first.Stdout)
			for _, trial := range failed {
				again := p.shell(t, trial.Replay)
				assert.Equal(t, 1, again.Code, trial.Replay+"\n"+again.Stderr)
				assert.Contains(t, again.Stdout, "FAIL "+trial.Name+"  ", trial.Replay)
				assert.Contains(t, again.Stdout, "stage", trial.Replay)
				assert.Contains(t, again.Stdout, trial.Failures[0].Verdict[:len("NodeStageVolume ")], trial.Replay)
			}
		})
	}
}

// A report file that cannot be written is rejected before any run starts, and no file remains.
func TestABadPathOfAReportIsRefusedAtTheStart(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	require.NoError(t, os.Mkdir(filepath.Join(p.Dir, "dir"), 0o755))
	p.Write("s.yaml", clitest.Header+"steps: [{settle: {}}]\n")
	for flags, why := range map[string]string{
		"--junit dir":         "--junit dir: no report can be written there: it is a directory",
		"--junit s.yaml/x":    "--junit s.yaml/x: no report can be written there: not a directory",
		"--json /proc/x.json": "--json /proc/x.json: no report can be written there: ",
	} {
		got := p.checks(t, "--only claims/one "+flags)
		assert.Equal(t, 2, got.Code, got.Stderr)
		assert.Contains(t, got.Stderr, why)
		assert.Empty(t, got.Stdout)
	}
	got := outcomeOf(t, p.Command("run", "--junit", "dir", "s.yaml"))
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "--junit dir: no report can be written there: it is a directory")

	got = outcomeOf(t, p.Command("check", "--junit", "new/report.xml", "--", "./no-such-driver"))
	assert.Equal(t, 3, got.Code)
	assert.NoFileExists(t, filepath.Join(p.Dir, "new/report.xml"), "an empty report is none")
}

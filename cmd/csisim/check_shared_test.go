package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// sharedState returns flags and the command of a driver that keeps its volumes in one directory of
// this machine, like the volumes of a cloud account.
func sharedState(p *place, t *testing.T) (flags string, driver []string) {
	t.Helper()
	dir := filepath.Join(p.Dir, "backend")
	require.NoError(t, os.Mkdir(dir, 0o755))
	driver = append(driver, checkedDriver...)
	for i, arg := range driver {
		if strings.HasPrefix(arg, "--state-dir=") {
			driver[i] = "--state-dir=" + dir
		}
	}
	return "--host-path " + dir, driver
}

// Trials that disturb each other are repeated, and all trials run one at a time from then on.
func TestTrialsOfADriverWithOneBackendRunOneAtATime(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	flags, driver := sharedState(p, t)
	const only = " --only claims/* --only life/filesystem --only life/read-only --only repeated/filesystem --only lost/Node*"
	checks := func(more ...string) clitest.Outcome {
		args := append([]string{"check"}, strings.Fields(flags+only)...)
		return outcomeOf(t, p.Command(append(append(append(args, more...), "--"), driver...)...))
	}
	got := checks("--parallel", "6", "--json", "card.json")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, ": 12 passed, 0 failed · ")
	assert.Regexp(t, `\nDisturbed\n  volume \S+ of \w+/\S+ is seen in \w+/\S+: the driver keeps its volumes outside of the run, and scenarios that run at once disturb each other\n  One ran at a time from then on, and `, got.Stdout)
	assert.Regexp(t, `csisim: volume \S+ of \S+ is seen in \S+: the driver keeps its volumes outside of the run, .*; one runs at a time from here on, \d+ again`, got.Stderr)
	text, err := os.ReadFile(filepath.Join(p.Dir, "card.json"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"disturbed": "volume `)

	got = checks("--parallel", "1")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.NotContains(t, got.Stdout, "Disturbed", "none ran beside another")

	driver = append(driver, "--broken", "stage-not-idempotent")
	got = checks("--parallel", "6")
	assert.Equal(t, 1, got.Code)
	assert.Contains(t, got.Stdout, "\nFAIL NodeStageVolume is not idempotent: OK, then Internal  stuck\n", "a defect is found all the same")
	assert.Equal(t, 1, strings.Count(got.Stdout, "\nFAIL N")+strings.Count(got.Stdout, "\nFAIL left"), got.Stdout)
	assert.Empty(t, p.Leftovers())
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedState returns flags and the command of a driver that keeps its volumes in one directory of
// this machine, like the volumes of a cloud account.
func sharedState(p *place, t *testing.T) (flags string, driver []string) {
	t.Helper()
	dir := filepath.Join(p.dir, "backend")
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
	needsMounts(t)
	p := newPlace(t, build(t))
	flags, driver := sharedState(p, t)
	const only = " --only claims/* --only life/filesystem --only life/read-only --only repeated/filesystem --only lost/Node*"
	checks := func(more ...string) outcome {
		args := append([]string{"check"}, strings.Fields(flags+only)...)
		return outcomeOf(t, p.command(append(append(append(args, more...), "--"), driver...)...))
	}
	got := checks("--parallel", "6", "--json", "card.json")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, ": 12 passed, 0 failed · ")
	assert.Regexp(t, `\nDisturbed\n  volume \S+ of \w+/\S+ is seen in \w+/\S+: the driver keeps its volumes outside of the run, and scenarios that run at once disturb each other\n  One ran at a time from then on, and `, got.stdout)
	assert.Regexp(t, `csisim: volume \S+ of \S+ is seen in \S+: the driver keeps its volumes outside of the run, .*; one runs at a time from here on, \d+ again`, got.stderr)
	text, err := os.ReadFile(filepath.Join(p.dir, "card.json"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `"disturbed": "volume `)

	got = checks("--parallel", "1")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.NotContains(t, got.stdout, "Disturbed", "none ran beside another")

	driver = append(driver, "--broken", "stage-not-idempotent")
	got = checks("--parallel", "6")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "\nFAIL NodeStageVolume is not idempotent: OK, then Internal  stuck\n", "a defect is found all the same")
	assert.Equal(t, 1, strings.Count(got.stdout, "\nFAIL N")+strings.Count(got.stdout, "\nFAIL left"), got.stdout)
	assert.Empty(t, p.leftovers())
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A calm run does not show that a driver creates two volumes of one name. A search shows it, and
// writes the file that replays it.
func TestADeepCheckFindsInADriverProgramWhatNoCalmRunShows(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := p.checks(t, "--deep 40 --only deep/life --parallel 2 --json card.json", "--broken", "create-not-idempotent")
	assert.Equal(t, 1, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, "FAIL Searched                  life (40 runs) FAILED\n")
	assert.Contains(t, got.stdout, "\nFAIL CreateVolume is not idempotent  leak\n")
	assert.Regexp(t, `(?s)\n    with      CreateVolume of pvc-\S+ by hostdir.csi.example.com: .*\n    replay `, got.stdout)
	assert.Regexp(t, `\nsearched: 40 runs in \d+s, \d+ findings?, [0-9.]+ a minute\n`, got.stdout)

	files, err := filepath.Glob(filepath.Join(p.dir, "deep-life-*.csisim.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1, got.stdout)
	assert.Contains(t, got.stdout, " replay "+filepath.Base(files[0])+"\n")
	again := outcomeOf(t, p.command("replay", filepath.Base(files[0])))
	assert.Equal(t, 1, again.code, again.stdout+again.stderr)
	assert.Contains(t, again.stdout, "FAIL deep/life")
}

func TestADeepCheckOfASoundDriverFindsNothing(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := p.checks(t, "--deep 2 --only deep/life,deep/move --only claims/one --json card.json")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, "PASS Searched                  life (2 runs)  move (2 runs)\n")
	assert.Contains(t, got.stdout, "PASS Claims without pods       one\n")
	assert.Empty(t, p.namesOfFindings(t, "card.json"))

	for deep, why := range map[string]string{"0": "duration", "-1s": "duration", "often": "duration"} {
		got := p.checks(t, "--deep="+deep)
		assert.Equal(t, 2, got.code)
		assert.Contains(t, strings.Split(got.stderr, "\n")[0], why)
	}
	got = p.checks(t, "--only deep/life")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, `unknown scenario "deep/life"`)
}

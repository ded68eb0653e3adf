package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A calm run does not show that a driver creates two volumes with one name. A search shows it, and
// writes a file that replays it.
func TestADeepCheckFindsDefectsThatNoCalmRunShows(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--deep 40 --only deep/life --parallel 2 --json card.json", "--broken", "create-not-idempotent")
	assert.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "FAIL Searched                  life (40 runs) FAILED\n")
	assert.Contains(t, got.Stdout, "\nFAIL CreateVolume is not idempotent  leak\n")
	assert.Regexp(t, `(?s)\n    with      CreateVolume of pvc-\S+ by hostdir.csi.example.com: .*\n    replay `, got.Stdout)
	assert.Regexp(t, `\nsearched: 40 runs in \d+s, \d+ findings?, [0-9.]+ a minute\n`, got.Stdout)

	files, err := filepath.Glob(filepath.Join(p.Dir, "deep-life-*.csisim.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1, got.Stdout)
	assert.Contains(t, got.Stdout, " replay "+filepath.Base(files[0])+"\n")
	again := outcomeOf(t, p.Command("replay", filepath.Base(files[0])))
	assert.Equal(t, 1, again.Code, again.Stdout+again.Stderr)
	assert.Contains(t, again.Stdout, "FAIL deep/life")
}

func TestADeepCheckOfASoundDriverFindsNothing(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--deep 2 --only deep/life,deep/move --only claims/one --json card.json")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "PASS Searched                  life (2 runs)  move (2 runs)\n")
	assert.Contains(t, got.Stdout, "PASS Claims without pods       one\n")
	assert.Empty(t, p.namesOfFindings(t, "card.json"))

	for deep, why := range map[string]string{"0": "duration", "-1s": "duration", "often": "duration"} {
		got := p.checks(t, "--deep="+deep)
		assert.Equal(t, 2, got.Code)
		assert.Contains(t, strings.Split(got.Stderr, "\n")[0], why)
	}
	got = p.checks(t, "--only deep/life")
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, `unknown scenario "deep/life"`)
}

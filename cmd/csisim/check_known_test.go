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

// namesOfFindings returns the names of the findings in a JSON card.
func (p *place) namesOfFindings(t *testing.T, card string) (names []string) {
	t.Helper()
	var read struct{ Findings []struct{ Name string } }
	text, err := os.ReadFile(filepath.Join(p.Dir, card))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	for _, f := range read.Findings {
		names = append(names, f.Name)
	}
	return names
}

// Known findings do not fail a check, new findings do, and findings that no longer occur are
// listed.
func TestABaselineLetsKnownFindingsPass(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	const only = "--only repeated/filesystem --only life/filesystem --only lost/NodeStageVolume "
	got := p.checks(t, only+"--write-known known.yaml", "--broken", "stage-not-idempotent")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	written, err := os.ReadFile(filepath.Join(p.Dir, "known.yaml"))
	require.NoError(t, err)
	assert.Equal(t, `# Findings that csisim check --known lets pass; csisim check --write-known writes this file.
apiVersion: csisim.dev/v1alpha1
kind: KnownFindings
driver: hostdir.csi.example.com
findings:
- name: 'NodeStageVolume is not idempotent: OK, then Internal'
  trials: [lost/NodeStageVolume, repeated/filesystem]
`, string(written))

	got = p.checks(t, only+"--known known.yaml --junit known.xml --summary summary.md --report reports", "--broken", "stage-not-idempotent")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "\nknown NodeStageVolume is not idempotent: OK, then Internal  2 trials\n")
	assert.Contains(t, got.Stdout, " 0 failed, 2 with known findings · ")
	assert.NotContains(t, got.Stdout, "FAIL")
	assert.Contains(t, got.Stdout, "\n---- Repeated calls            1 known\n")
	junit, err := os.ReadFile(filepath.Join(p.Dir, "known.xml"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(junit), `<skipped message="known: NodeStageVolume is not idempotent: OK, then Internal">`))
	assert.NotContains(t, string(junit), "<failure")
	summary, err := os.ReadFile(filepath.Join(p.Dir, "summary.md"))
	require.NoError(t, err)
	assert.Contains(t, string(summary), "| known | **NodeStageVolume is not idempotent: OK, then Internal**<br>")
	assert.Contains(t, string(summary), "| Repeated calls | 0 | 0 | 1 | 0 |\n")
	reports, err := os.ReadDir(filepath.Join(p.Dir, "reports"))
	require.NoError(t, err)
	assert.Len(t, reports, 1, "only the index: there is nothing new to look at")

	got = p.checks(t, only+"--known known.yaml", "--broken", "stage-not-idempotent,unpublish-leaves-target-dir")
	assert.Equal(t, 1, got.Code)
	assert.Contains(t, got.Stdout, "\nFAIL NodeUnpublishVolume leaves what it has to delete  stuck\n")

	got = p.checks(t, only+"--known known.yaml")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "\nGone: known, and not found any more\n  NodeStageVolume is not idempotent: OK, then Internal\n")

	got = p.checks(t, "--only claims/one --known known.yaml")
	assert.NotContains(t, got.Stdout, "Gone", "none of its scenarios was tried")

	p.Write("bad.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: KnownFindings\ndriver: x\nfindings: [{nam: a}]\n")
	got = p.checks(t, "--only claims/one --known bad.yaml")
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "bad.yaml:4:")
	p.Write("other.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: KnownFindings\ndriver: x.example.com\n")
	got = p.checks(t, "--only claims/one --known other.yaml")
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "--known: these are findings of driver x.example.com, and this is hostdir.csi.example.com")
}

// Two checks of one driver (ten in nightly tests) report the same findings, with one line for each
// defect.
func TestRepeatedChecksGiveTheSameFindings(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	checks := 2
	if clitest.Nightly() {
		checks = 10
	}
	for range checks {
		p.checks(t, "--json card.json --only repeated/* --only life/* --only lost/Node*", "--broken", "stage-not-idempotent,unpublish-leaves-target-dir")
		assert.Equal(t, []string{
			"NodeStageVolume is not idempotent: OK, then Internal", "NodeUnpublishVolume leaves what it has to delete: … is there still",
		}, p.namesOfFindings(t, "card.json"))
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// namesOfFindings returns the names of the findings in a JSON card.
func (p *place) namesOfFindings(t *testing.T, card string) (names []string) {
	t.Helper()
	var read struct{ Findings []struct{ Name string } }
	text, err := os.ReadFile(filepath.Join(p.dir, card))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	for _, f := range read.Findings {
		names = append(names, f.Name)
	}
	return names
}

// Known findings do not fail a check, new ones do, and findings that no longer occur are listed.
func TestABaselineLetsKnownFindingsPass(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	const only = "--only repeated/filesystem --only life/* --only lost/NodeStageVolume "
	got := p.checks(t, only+"--write-known known.yaml", "--broken", "stage-not-idempotent")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	written, err := os.ReadFile(filepath.Join(p.dir, "known.yaml"))
	require.NoError(t, err)
	assert.Equal(t, `# Findings that csisim check --known lets pass; csisim check --write-known writes this file.
apiVersion: csisim.dev/v1alpha1
kind: KnownFindings
driver: hostdir.csi.example.com
findings:
- name: 'NodeStageVolume is not idempotent: OK, then Internal'
  trials: [lost/NodeStageVolume, repeated/filesystem]
`, string(written))

	got = p.checks(t, only+"--known known.yaml --junit known.xml --report reports", "--broken", "stage-not-idempotent")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, "\nknown NodeStageVolume is not idempotent: OK, then Internal  2 trials\n")
	assert.Contains(t, got.stdout, " 0 failed, 2 with known findings · ")
	assert.NotContains(t, got.stdout, "FAIL")
	assert.Contains(t, got.stdout, "\n---- Repeated calls            1 known\n")
	junit, err := os.ReadFile(filepath.Join(p.dir, "known.xml"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(junit), `<skipped message="known: NodeStageVolume is not idempotent: OK, then Internal">`))
	assert.NotContains(t, string(junit), "<failure")
	reports, err := os.ReadDir(filepath.Join(p.dir, "reports"))
	require.NoError(t, err)
	assert.Len(t, reports, 1, "only the index: there is nothing new to look at")

	got = p.checks(t, only+"--known known.yaml", "--broken", "stage-not-idempotent,unpublish-leaves-target-dir")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "\nFAIL NodeUnpublishVolume leaves what it has to delete  stuck\n")

	got = p.checks(t, only+"--known known.yaml")
	assert.Equal(t, 0, got.code, got.stdout+got.stderr)
	assert.Contains(t, got.stdout, "\nGone: known, and not found any more\n  NodeStageVolume is not idempotent: OK, then Internal\n")

	got = p.checks(t, "--only claims/one --known known.yaml")
	assert.NotContains(t, got.stdout, "Gone", "none of its scenarios was tried")

	p.write("bad.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: KnownFindings\ndriver: x\nfindings: [{nam: a}]\n")
	got = p.checks(t, "--only claims/one --known bad.yaml")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "bad.yaml:4:")
	p.write("other.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: KnownFindings\ndriver: x.example.com\n")
	got = p.checks(t, "--only claims/one --known other.yaml")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "--known: these are findings of driver x.example.com, and this is hostdir.csi.example.com")
}

// Five checks of one driver report the same findings, one line for each defect.
func TestFiveChecksGiveTheSameFindings(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	for range 5 {
		p.checks(t, "--json card.json --only repeated/* --only life/* --only lost/Node*", "--broken", "stage-not-idempotent,unpublish-leaves-target-dir")
		assert.Equal(t, []string{
			"NodeStageVolume is not idempotent: OK, then Internal", "NodeUnpublishVolume leaves what it has to delete: … is there still",
		}, p.namesOfFindings(t, "card.json"))
	}
}

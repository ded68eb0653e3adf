package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// upgrades runs csisim check --upgrade-from on two releases of the reference driver.
func (p *place) upgrades(t *testing.T, old, new, flags string) outcome {
	t.Helper()
	from := strings.Join(append(slices.Clone(checkedDriver), strings.Fields(old)...), " ")
	args := append([]string{"check", "--upgrade-from", from}, strings.Fields(flags)...)
	args = append(append(append(args, "--"), checkedDriver...), strings.Fields(new)...)
	return outcomeOf(t, p.command(args...))
}

func TestAnUpgradeIsCheckedAndReplayed(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := p.upgrades(t, "", "--format=v2 --broken=upgrade-changes-node-ids", "--only upgrade/created --only upgrade/published --only rollback/published --json card.json")
	assert.Equal(t, 1, got.code, got.stderr)
	for _, part := range []string{
		"hostdir.csi.example.com 0.1.0 → 0.1.0\n",
		"  node id of node-a         node-a → v2-node-a\n                            concerns existing attachments, which have the old node id\n",
		"created                       passed            -                 -                 -\n",
		"published                     FAILED            FAILED            -                 -\n",
		"NodePublishVolume fails for good",
	} {
		assert.Contains(t, got.stdout, part)
	}
	var card struct {
		Upgrade struct {
			From        string
			Differences []struct{ What, Old, New, Concerns string }
		}
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "card.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &card))
	assert.Equal(t, "0.1.0", card.Upgrade.From)
	require.NotEmpty(t, card.Upgrade.Differences)
	assert.Equal(t, "node id of node-a", card.Upgrade.Differences[0].What)

	_, replay, found := strings.Cut(got.stdout, "\nreplay    ")
	require.True(t, found)
	replay, _, _ = strings.Cut(replay, "\n")
	again := p.shell(t, replay)
	assert.Equal(t, 1, again.code, again.stderr)
	assert.Contains(t, again.stdout, "the driver fails NodePublishVolume on node-a: volume vol-")
	assert.Empty(t, p.leftovers())
}

func TestTwoEqualReleasesAreNamedAndChecked(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := p.upgrades(t, "", "", "--only upgrade/published --only rollback/published")
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stderr, "both releases are the same program with the same arguments: the check shows the effects of a restart")
	assert.Contains(t, got.stdout, "  both releases answer alike: version, capabilities, node ids, topology, limits, contexts\n")
}

func TestReleasesOfTwoDriversAreRefused(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := p.upgrades(t, "--driver-name=old.csi.example.com", "", "--only upgrade/published")
	assert.Equal(t, 2, got.code, got.stderr)
	assert.Contains(t, got.stderr, `the old release is the driver "old.csi.example.com", the new one "hostdir.csi.example.com": volumes of one are not served by the other; want two releases of one driver`)
	assert.Empty(t, p.leftovers())
}

// Given two binaries of a driver with a profile, when the upgrade is checked, then the profile
// describes how both are started.
func TestAnUpgradeByAProfileTakesTwoBinaries(t *testing.T) {
	needsMounts(t)
	p := newPlace(t, build(t))
	got := outcomeOf(t, p.command("check", "--profile", "hostdir", "--upgrade-from-binary", filepath.Join(p.bin, "hostdir"), "--only", "upgrade/published", "--print", "upgrade/published"))
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "  versions:\n    new:\n      profile: hostdir\n")
	assert.Contains(t, got.stdout, "- upgrade-driver: {to: new}\n")
	run := outcomeOf(t, p.command("check", "--profile", "hostdir", "--upgrade-from-binary", filepath.Join(p.bin, "hostdir"), "--only", "upgrade/published"))
	assert.Equal(t, 0, run.code, run.stdout+run.stderr)
}

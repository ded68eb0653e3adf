package check_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
)

// release is a release of the reference driver with further flags.
func release(program, flags string) check.Subject {
	subject := hostdir(program, "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, strings.Fields(flags)...)
	return subject
}

// upgraded runs the trials of the upgrade from one release to another that match the patterns, or
// all trials without patterns.
func upgraded(t *testing.T, old, new check.Subject, patterns ...string) *check.Card {
	t.Helper()
	options := check.RunOptions{WorkDir: workDir(t), Parallel: 2}
	u := &check.Upgrade{Old: factsOfOld(t, old, options)}
	var err error
	u.New, err = check.Ask(t.Context(), new, options)
	require.NoError(t, err)
	all, err := u.Plan()
	require.NoError(t, err)
	if len(patterns) > 0 {
		all, err = check.Chosen(all, patterns)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(all), len(patterns))
	}
	card := &check.Card{Facts: u.New, Upgrade: u}
	card.Outcomes, err = check.Run(t.Context(), all, options)
	require.NoError(t, err)
	require.NoError(t, u.Repeat(t.Context(), card.Outcomes, options))
	return card
}

// oldReleases holds facts of old releases by subject, because most upgrades begin with the same
// release.
var oldReleases = struct {
	sync.Mutex
	facts map[string]*check.Facts
}{facts: map[string]*check.Facts{}}

func factsOfOld(t *testing.T, old check.Subject, o check.RunOptions) *check.Facts {
	t.Helper()
	subject, err := json.Marshal(old)
	require.NoError(t, err)
	oldReleases.Lock()
	defer oldReleases.Unlock()
	facts, known := oldReleases.facts[string(subject)]
	if !known {
		facts, err = check.Ask(t.Context(), old, o)
		require.NoError(t, err)
		oldReleases.facts[string(subject)] = facts
	}
	return facts
}

// someOfUpgrade are trials in every state of a volume and at every call, and some of these for each
// way of replacing a release.
var someOfUpgrade = []string{
	"upgrade/*", "rollback/*ed", "rollback/uncertain-Node*", "node-first/*ed", "node-first/uncertain-Node*", "controller-first/*ed",
	"controller-first/uncertain-Controller*", "upgrade-at/*-before", "upgrade-at/*-work-1", "rollback-at/*-after",
}

// Given a sound release with another format of records, when it replaces the old release or is
// replaced by it, in any state of a volume, then there is no finding.
func TestASoundReleaseTakesOverEverything(t *testing.T) {
	program := buildHostdir(t)
	old, new := withInline(release(program, ""), "also", false, persistent, ephemeral), withInline(release(program, "--format=v2"), "also", false, persistent, ephemeral)
	patterns, most := someOfUpgrade, 70
	if *allTrials {
		patterns, most = nil, 150
	}
	card := upgraded(t, old, new, patterns...)
	assert.Empty(t, verdicts(card))
	assert.Empty(t, card.NotTried())
	assert.Empty(t, card.NotOffered())
	assert.Greater(t, card.Totals().Passed, most)
}

// Given a driver that offers only inline volumes. When its releases replace each other at each call
// for such a volume, then the sound pair passes, and the check finds a release that forgets the old
// mounts.
func TestADriverOfInlineVolumesIsUpgradedAtItsCalls(t *testing.T) {
	program := buildHostdir(t)
	pair := func(defect string) *check.Card {
		old, new := withInline(release(program, ""), "only", false, ephemeral), withInline(release(program, strings.TrimSpace("--format=v2 "+defect)), "only", false, ephemeral)
		old.Driver.NoController, new.Driver.NoController = true, true
		return upgraded(t, old, new)
	}
	sound := pair("")
	assert.Empty(t, verdicts(sound))
	assert.Greater(t, len(passed(sound, "upgrade-at")), 4)
	assert.Contains(t, passed(sound, "rollback-at"), "inline-NodeUnpublishVolume-before")
	shown := map[string]string{} // by trial
	for _, f := range pair("--broken=upgrade-forgets-records").Findings() {
		for _, o := range f.Shown {
			shown[o.Name()] = f.Name
		}
	}
	assert.Equal(t, "NodeUnpublishVolume has no effect: … mounted still: of … at …", shown["upgrade-at/inline-NodeUnpublishVolume-before"], "%v", shown)
}

// upgradeDefects are the defects of a new release that concern the volumes of the old one, each
// with a trial that shows it.
var upgradeDefects = []struct{ title, old, defect, trial, finding string }{
	{"changed volume handles", "", "upgrade-changes-handles", "upgrade/attached", "NodeStageVolume fails for good: NotFound"},
	{"changed node ids", "", "upgrade-changes-node-ids", "upgrade/published", "NodePublishVolume fails for good: FailedPrecondition"},
	{"changed topology", "--topology=zone=a", "upgrade-changes-topology", "upgrade/created", "ControllerPublishVolume fails for good: InvalidArgument"},
	{"a lost capability", "", "upgrade-drops-staging", "upgrade/published", "the new release lacks STAGE_UNSTAGE_VOLUME, which volumes of the old release use"},
	{"forgotten records", "", "upgrade-forgets-records", "upgrade/published", "NodeUnpublishVolume has no effect: … mounted still: of … at …"},
	{"a state that is not read", "", "upgrade-refuses-state", "upgrade/created", "the driver does not start after an upgrade"},
	{"a state that is not read at a call", "", "upgrade-refuses-state", "upgrade-at/NodeStageVolume-before", "the driver does not start after an upgrade"},
	{"another staging layout", "", "upgrade-changes-staging", "upgrade/unpublished", "NodeUnstageVolume has no effect: … mounted still: of … at …"},
	{"a state that the old release cannot read", "", "upgrade-rewrites-state", "rollback/attached", "ListVolumesResponse.entries.volume.volume_id is empty: the CSI spec requires it"},
	{"other mount options", "", "upgrade-changes-flags", "upgrade/uncertain-NodeStageVolume", "NodeStageVolume fails for good: AlreadyExists"},
	{"forgotten attachments", "", "upgrade-forgets-attachments", "controller-first/published", "ListVolumes leaves out a node: volume … is attached to node …, from which it was not detached"},
	{"mounts that are removed", "", "upgrade-unmounts", "node-first/published", "foreign mount: driver hostdir.csi.csisim.dev unmounted … on …, a mount of driver hostdir.csi.csisim.dev, when it was started again"},
}

// Given a release with a defect that affects the volumes of the old release, when a trial replaces
// releases, then the finding names the defect, and neither release shows it alone.
func TestDefectsOfUpgradesAreFound(t *testing.T) {
	program := buildHostdir(t)
	for _, defect := range upgradeDefects {
		t.Run(defect.title, func(t *testing.T) {
			t.Parallel()
			card := upgraded(t, release(program, defect.old), release(program, defect.old+" --broken="+defect.defect), defect.trial)
			found := card.Findings()
			require.NotEmpty(t, found)
			assert.Equal(t, defect.finding, found[0].Name)
			assert.Empty(t, found[0].Release)
			assert.False(t, found[0].Known)
		})
	}
}

// Given a defect of one release, when a trial shows it, then the card reports that this release
// also shows the defect alone. A defect that only the old release has is a known finding.
func TestADefectOfOneReleaseIsNotBlamedOnTheUpgrade(t *testing.T) {
	program := buildHostdir(t)
	const leaves = "--broken=unstage-leaves-mount"
	for _, c := range []struct {
		name, old, new string
		release        check.Release
		known          bool
	}{
		{"of the old one", leaves, "", check.OldRelease, true},
		{"of the new one", "", leaves, check.NewRelease, false},
		{"of both", leaves, leaves, check.EachRelease, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			trial := "upgrade/published"
			if c.new == "" {
				trial = "rollback/published"
			}
			card := upgraded(t, release(program, c.old), release(program, c.new), trial)
			found := card.Findings()
			require.Len(t, found, 1)
			assert.Equal(t, "NodeUnstageVolume has no effect: … mounted still: of … at …", found[0].Name)
			assert.Equal(t, c.release, found[0].Release)
			assert.Equal(t, c.known, found[0].Known)
		})
	}
}

// Given two releases with different answers, when the card is printed, then it names the
// differences and the objects that they can break.
func TestTheCardOfAnUpgradeNamesTheDifferences(t *testing.T) {
	program := buildHostdir(t)
	card := upgraded(t, release(program, "--topology=zone=a"), release(program, "--topology=rack=b --no-stage --max-volumes=5"), "upgrade/nothing", "rollback/staged")
	var text strings.Builder
	require.NoError(t, card.Text(&text, report.Terminal{}))
	for _, line := range []string{
		"  lost capabilities, node   STAGE_UNSTAGE_VOLUME → none\n                            concerns existing volumes that use them\n",
		"  topology of node-b        {\"zone\": \"a\"} → {\"rack\": \"b\"}\n                            concerns existing PersistentVolumes with the old topology in their node affinity: their pods can stay Pending\n",
		"  volumes per node          no limit → 5\n                            concerns nodes with more volumes\n",
		"nothing                       passed            -                 -                 -\n",
		"staged                        -                 -                 -                 -\n",
	} {
		assert.Contains(t, text.String(), line)
	}
	page, err := card.Index(func(*check.Trial) string { return "" })
	require.NoError(t, err)
	assert.Equal(t, card.Facts.Name+" "+card.Upgrade.Old.Version+" → "+card.Upgrade.New.Version, page.Title)
}

// Given an old release with its own defect, and a new release with a defect that only the upgrade
// shows. When both show the same finding in different trials, then only the trials of the upgrade
// fail.
func TestAFindingIsSplitByTheReleaseThatShowsIt(t *testing.T) {
	program := buildHostdir(t)
	card := upgraded(t, release(program, "--broken=stop-unmounts"), release(program, "--broken=upgrade-unmounts"), "upgrade/published", "upgrade-at/NodePublishVolume-after")
	var releases []check.Release
	for _, f := range card.Findings() {
		if strings.HasPrefix(f.Name, "foreign mount: ") {
			releases = append(releases, f.Release)
		}
	}
	assert.Equal(t, []check.Release{"", check.OldRelease}, releases)
	assert.Equal(t, 1, card.Totals().Known)
}

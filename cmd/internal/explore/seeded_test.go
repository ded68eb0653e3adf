package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/seeded"
)

// mistake is a mistake of the mock driver or of Kubernetes' own programs that no calm run shows.
type mistake struct {
	name, scenario, want string
	own                  seeded.Mistake // 0: the driver has the mistake, from mock.Misbehaviours
}

// rare lists the mistakes that take hundreds of runs to find. Only make explore-bench searches for
// them.
var rare = []string{"forget-attachment-on-restart", "kubelet-writes-status-once"}

var mistakes = []mistake{
	{"create-not-idempotent", "lifecycle", "CreateVolume is not idempotent: volume … then …", 0},
	{"clone-not-idempotent", "snapshot", "CreateVolume is not idempotent: volume … then …", 0},
	{"forget-names-on-restart", "lifecycle", "CreateVolume is not idempotent: volume … then …", 0},
	{"delete-not-idempotent", "lifecycle", "DeleteVolumeRequest is answered with NotFound: the CSI spec wants OK for what does not exist", 0},
	{"expand-not-idempotent", "expansion", "ControllerExpandVolume is not idempotent: OK, then Internal", 0},
	{"attach-not-idempotent", "lifecycle", "ControllerPublishVolume is not idempotent: OK, then Internal", 0},
	{"detach-not-idempotent", "lifecycle", "ControllerUnpublishVolume is not idempotent: OK, then Internal", 0},
	{"detach-takes-all", "testdata/shared", "NodePublishVolume fails for good: FailedPrecondition", 0},
	{"forget-attachment-on-restart", "lifecycle", "NodeStageVolume fails for good: FailedPrecondition", 0},
	{"stage-not-idempotent", "lifecycle", "NodeStageVolume fails for good: Internal", 0},
	{"stage-keeps-lock", "lifecycle", "NodePublishVolume is answered with ABORTED though no call is under way: volume … is locked still", 0},
	{"deadline-keeps-lock", "lifecycle", "NodeStageVolume fails for good: Aborted", 0},
	{"unstage-takes-others", "testdata/shared", "NodePublishVolume fails for good: FailedPrecondition", 0},
	{"unstage-not-idempotent", "lifecycle", "NodeUnstageVolume is not idempotent: OK, then Internal", 0},
	{"publish-not-idempotent", "lifecycle", "NodePublishVolume is not idempotent: OK, then Internal", 0},
	{"publish-stacks-mounts", "lifecycle", "NodePublishVolume is not idempotent: … mount, then …", 0},
	{"unpublish-not-idempotent", "lifecycle", "NodeUnpublishVolume fails for good: Internal", 0},
	{"forget-publications-on-restart", "lifecycle", "NodePublishVolume fails for good: FailedPrecondition", 0},
	{"snapshot-not-idempotent", "snapshot", "CreateSnapshot is not idempotent: snapshot …, then …", 0},
	{"snapshot-delete-not-idempotent", "snapshot", "DeleteSnapshotRequest is answered with NotFound: the CSI spec wants OK for what does not exist", 0},
	{"attacher-detached-at-error", "lifecycle", "timed out waiting for the condition: pod … in phase Running", seeded.DetachedAtError},
	{"attacher-attached-at-error", "lifecycle", "out of order: NodeStageVolume: volume … is staged on node …, where it is not attached", seeded.AttachedAtError},
	{"provisioner-deleted-at-error", "lifecycle", "left behind: volume of CreateVolume, in spite of DeleteVolume", seeded.DeletedAtError},
	{"snapshotter-deleted-at-error", "snapshot", "left behind: snapshot of CreateSnapshot, in spite of DeleteSnapshot", seeded.SnapshotDeletedAtError},
	{"kubelet-unpublished-at-error", "lifecycle", "timed out waiting for the condition: pod … gone", seeded.UnpublishedAtError},
	{"kubelet-unstaged-at-error", "lifecycle", "left behind: mount of NodeStageVolume, in spite of NodeUnstageVolume", seeded.UnstagedAtError},
	{"kubelet-reconstructs-nothing", "lifecycle", "timed out waiting for the condition: pod … gone", seeded.NotReconstructed},
	{"kubelet-mounts-while-unstaged", "testdata/rejoined", "out of order: NodePublishVolume: volume … is published on node … while it is unstaged there", seeded.MountedWhileUnstaged},
	{"attachdetach-from-old-view", "lifecycle", "timed out waiting for the condition: pod … in phase Running", seeded.AttachedFromOldView},
	{"attacher-detached-before-end", "lifecycle", "timed out waiting for the condition: pod … in phase Running", seeded.DetachedBeforeEnd},
	{"provisioner-deletes-attached", "testdata/unattended", "out of order: DeleteVolume: volume … is deleted while it is attached", seeded.DeletedInUse},
	{"kubelet-writes-status-once", "lifecycle", "timed out waiting for the condition: pod … in phase Running", seeded.StatusWrittenOnce},
}

// plant plants the mistake for the test and returns the text of the scenario that shows it.
func (m mistake) plant(t testing.TB) []byte {
	if m.own != 0 {
		seeded.Plant(t, m.own)
		return textOf(t, m.scenario)
	}
	return textOf(t, m.scenario, m.name)
}

// shortStory is the number of choices in a story that readers can follow.
const shortStory = 4

// enough is a sufficient number of runs to show each of the mistakes.
const enough = 2000

// find searches until it has a finding with this name and a short story.
func find(t *testing.T, m mistake, text []byte) *Finding { return findWith(t, m, text, usual(enough)) }

func findWith(t *testing.T, m mistake, text []byte, o Options) *Finding {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	named := func(f *Finding) bool { return f.Name == m.want }
	o.Runs = enough
	o.Progress = func(s *Search) {
		if slices.ContainsFunc(s.Findings, func(f *Finding) bool { return named(f) && len(f.Choices) <= shortStory }) {
			cancel()
		}
	}
	s, err := Of(ctx, fileOf(m.scenario), text, o)
	require.NoError(t, err)
	require.Equal(t, scenario.Passed, s.Calm.Exit, "the mistake must not show in the calm run")
	i := slices.IndexFunc(s.Findings, named)
	require.GreaterOrEqual(t, i, 0, "%s in %d runs, which show %v", m.want, s.Runs, namesOf(s.Findings))
	return s.Findings[i]
}

func namesOf(findings []*Finding) (names []string) {
	for _, f := range findings {
		names = append(names, f.Name)
	}
	return names
}

func TestMistakesThatNoCalmRunShowsAreFoundShrunkAndReplayed(t *testing.T) {
	for _, m := range mistakes {
		if slices.Contains(rare, m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			text := m.plant(t)
			f := find(t, m, text)
			t.Logf("%s, %d runs, %d choices of %d: %s", f.Found, f.Runs, len(f.Choices), f.Before, f.Verdict)
			assert.LessOrEqual(t, len(f.Choices), shortStory, f.Name)
			if m.own == 0 {
				assert.Equal(t, verdict.Driver, f.Blame, f.Name)
			}
			searched := &Search{options: usual(1), file: fileOf(m.scenario), text: text}
			searched.waitLonger(context.Background(), f)
			assert.True(t, f.Fails(), "%s is no known hazard", f.Name)
			assert.True(t, slices.ContainsFunc(f.Story, check.IsByChance), "the story of %s has the fault", f.Name)
			assert.LessOrEqual(t, len(f.Story), check.LongestStory, f.Name)
			replay := explore.NewReplay(f.Choices)
			result := rerun(t, m.scenario, text, replay)
			assert.Empty(t, replay.Unfit())
			assert.NotNil(t, Shows(result, f.Name), "the replay of %s", f.Name)
		})
	}
}

package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/sidecar"
)

// Drivers with few capabilities: clones without snapshots, growth on the node only, no lists.
func TestASoundDriverPassesWithLess(t *testing.T) {
	for name, c := range map[string]struct {
		options mock.Options
		passes  []string
	}{
		"clones without snapshots": {mock.Options{Clone: true}, []string{"snapshot/cloned", "snapshot/driver-killed-cloning"}},
		"growth on the node only":  {mock.Options{NodeExpand: true}, []string{"grow/unused", "grow/in-use", "grow/lost-answers", "grow/driver-killed-NodeExpandVolume"}},
		"all that can grow":        {able, []string{"grow/driver-killed-ControllerExpandVolume", "grow/driver-killed-NodeExpandVolume", "snapshot/two-of-one"}},
		"groups":                   {grouping, []string{"group/member-deleted", "snapshot/driver-killed", "snapshot/driver-killed-restoring"}},
		"the usual":                {mock.Options{}, []string{"contradicted/NodePublishVolume", "overlap/CreateVolume", "overlap/NodePublishVolume", "overlap/block"}},
	} {
		t.Run(name, func(t *testing.T) {
			card := checked(t, mocked(c.options), check.RunOptions{}, c.passes...)
			assert.Empty(t, verdicts(card))
			assert.Len(t, card.Outcomes, len(c.passes))
			for _, o := range card.Outcomes {
				assert.True(t, o.Passed(), "%s: %s", o.Name(), o.NotTried)
			}
		})
	}
}

// A release of csi-snapshotter without groups is the reason why their trials are not offered.
func TestAnOldSnapshotterHasNoTrialsOfGroups(t *testing.T) {
	for release, why := range map[sidecar.Release]string{
		"6.3": "csi-snapshotter 6.3 does not create and delete group snapshots", "7.0": "", "": "",
	} {
		subject := mocked(grouping)
		subject.Driver.Sidecars.Snapshotter.Version = release
		_, trials := planned(t, subject, check.RunOptions{})
		for _, trial := range trials {
			if trial.Group == "group" {
				assert.Equal(t, why, trial.NotOffered, "%s with %s", trial.Name(), release)
			}
		}
	}
}

// Kubernetes never repeats a request with the same name but a smaller size or without the source,
// so it does not depend on the refusal.
func TestAContradictionThatKubernetesNeverMakesIsANote(t *testing.T) {
	strict := func(on bool) mock.Options { return mock.Options{Clone: true, Strict: new(on)} }
	assert.Empty(t, checked(t, mocked(strict(true)), check.RunOptions{}, "contradicted/clone").Remarks())
	card := checked(t, mocked(strict(false)), check.RunOptions{}, "contradicted/clone")
	assert.Empty(t, verdicts(card))
	require.Len(t, card.Remarks(), 1)
	assert.Equal(t, "CreateVolume accepts a contradiction: a copy made, then asked for by the same name without its source", card.Remarks()[0].Text)
}

func TestATrialFindsTheDefectsOfADriverWithFewCapabilities(t *testing.T) {
	clones, grows := mock.Options{Clone: true}, mock.Options{NodeExpand: true}
	for _, c := range []struct {
		options               mock.Options
		fault, trial, verdict string
	}{
		{mock.Options{}, "create-not-idempotent", "lost/CreateVolume", "CreateVolume is not idempotent: volume vol-0001, then vol-0002"},
		{mock.Options{}, "create-not-idempotent", "lost/CreateVolume", "then left behind: volume of CreateVolume, without DeleteVolume"},
		{mock.Options{}, "create-not-idempotent", "overlap/CreateVolume", "CreateVolume is not idempotent: volume vol-0001, then vol-0002"},
		{mock.Options{}, "publish-ignores-access-mode", "contradicted/NodePublishVolume", "NodePublishVolume accepts a contradiction: a volume for a single writer published at "},
		{mock.Options{}, "publishes-device", "life/filesystem", "NodePublishVolume publishes no directory: a file lies at "},
		{clones, "create-drops-source", "snapshot/cloned", "CreateVolumeResponse.volume.content_source"},
		{clones, "create-not-idempotent", "snapshot/driver-killed-cloning", "CreateVolume is not idempotent: volume "},
		{grows, "expand-too-little", "grow/in-use", "NodeExpandVolumeResponse.capacity_bytes"},
		{grows, "expand-too-little", "grow/driver-killed-NodeExpandVolume", "NodeExpandVolumeResponse.capacity_bytes"},
		{grouping, "snapshot-not-idempotent", "snapshot/driver-killed", "CreateSnapshot is not idempotent: snapshot snap-0001, then snap-0002"},
		{grouping, "create-not-idempotent", "snapshot/driver-killed-restoring", "CreateVolume is not idempotent: volume "},
		{grouping, "group-delete-leaks", "group/member-deleted", "left behind: snapshot snap-0001"},
		{grouping, "snapshots-share-id", "snapshot/two-of-one", "CreateSnapshot answers with one id for two names: snapshot snap-0001 for "},
	} {
		t.Run(c.fault+" by "+c.trial, func(t *testing.T) {
			t.Parallel()
			o := c.options
			o.Faulty = []string{c.fault}
			assert.Contains(t, verdicts(checked(t, mocked(o), check.RunOptions{}, c.trial)), c.verdict)
		})
	}
}

// The reference program without lists: csisim knows objects even if their callers never received
// the answers.
func TestAProgramThatListsNothingIsFoundToLeak(t *testing.T) {
	program := buildHostdir(t)
	subject := func(defect string) check.Subject {
		s := hostdir(program, defect)
		s.Driver.Program.Command = append(s.Driver.Program.Command, "--without=list,snapshots,controller-expand")
		return s
	}
	sound := checked(t, subject(""), check.RunOptions{WorkDir: workDir(t)}, "lost/CreateVolume", "abandoned/CreateVolume", "snapshot/cloned", "grow/in-use")
	assert.Empty(t, verdicts(sound))
	for _, o := range sound.Outcomes {
		assert.True(t, o.Passed(), "%s: %s", o.Name(), o.NotTried)
	}
	found := verdicts(checked(t, subject("create-not-idempotent"), check.RunOptions{WorkDir: workDir(t)}, "lost/CreateVolume"))
	assert.Contains(t, found, "CreateVolume is not idempotent: volume vol-")
	assert.Contains(t, found, "then left behind: volume of CreateVolume")
}

// One finding about the cause is clearer than six trials that all time out.
func TestADriverThatCannotPublishItsBlockVolumesIsReportedOnce(t *testing.T) {
	driver := hostdir(buildHostdir(t), "block-not-published")
	_, trials := planned(t, driver, check.RunOptions{WorkDir: workDir(t)})
	ofBlock := slices.DeleteFunc(check.Names(trials), func(name string) bool { return !strings.Contains(name, "block") })
	card := checked(t, driver, check.RunOptions{Parallel: 2, WorkDir: workDir(t)}, ofBlock...)
	assert.Equal(t, "CreateVolume should refuse a raw block volume, which no node publishes: NodePublishVolume fails for good: InvalidArgument: block volumes are not supported", verdicts(card))
}

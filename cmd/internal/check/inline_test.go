package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/drivers/mock"
)

const (
	persistent = storagev1.VolumeLifecyclePersistent
	ephemeral  = storagev1.VolumeLifecycleEphemeral
)

// lives adds a CSIDriver object to a subject.
func lives(s check.Subject, podInfo bool, modes ...storagev1.VolumeLifecycleMode) check.Subject {
	s.CSIDriver = &storagev1.CSIDriverSpec{PodInfoOnMount: &podInfo, VolumeLifecycleModes: modes}
	return s
}

// withInline is hostdir with inline volumes, either in addition to volumes of claims or alone.
func withInline(s check.Subject, how string, podInfo bool, modes ...storagev1.VolumeLifecycleMode) check.Subject {
	s.Driver.Program.Command = append(s.Driver.Program.Command, "--inline="+how)
	s.Attributes = map[string]string{"size": "1Mi"}
	return lives(s, podInfo, modes...)
}

// passed returns the titles of the trials of a group that passed.
func passed(c *check.Card, group string) (names []string) {
	for _, o := range c.Outcomes {
		if o.Passed() && o.Group == group {
			names = append(names, o.Title)
		}
	}
	return names
}

var familyOfInline = []string{
	"life", "read-only", "used-again", "two-pods", "two-volumes", "many", "wrong-attributes", "repeated", "lost-NodePublishVolume", "lost-NodeUnpublishVolume",
	"abandoned", "driver-killed-NodePublishVolume", "kubelet-killed-NodeUnpublishVolume", "restart-driver-on-node", "restart-kubelet", "restart-everything", "reboot",
}

// One driver offers only inline volumes, with and without podInfoOnMount; another driver offers
// both kinds of volumes. K-PUB-4, K-PUB-7
func TestASoundDriverPassesWithInlineVolumes(t *testing.T) {
	also, alone := mock.Options{Ephemeral: true}, mock.Options{Ephemeral: true, CreateDeleteVolume: new(false), Attach: new(false), Stage: new(false)}
	for _, c := range []struct {
		name    string
		subject check.Subject
		both    bool
	}{
		{"alone", lives(mocked(alone), true, ephemeral), false},
		{"alone, without pod info", lives(mocked(alone), false, ephemeral), false},
		{"beside others", lives(mocked(also), true, persistent, ephemeral), true},
		{"beside others, without pod info", lives(mocked(also), false, persistent, ephemeral), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			card := checked(t, c.subject, check.RunOptions{Parallel: 2})
			assert.Empty(t, verdicts(card))
			assert.Subset(t, passed(card, "inline"), familyOfInline)
			assert.Equal(t, c.both, slices.Contains(passed(card, "inline"), "beside-a-claim"))
			assert.Equal(t, c.both, len(passed(card, "life")) > 0, "volumes of claims")
		})
	}
}

// TestASoundProgramWithInlineVolumesPasses also has volumes of claims.
func TestASoundProgramPassesWithInlineVolumesAlone(t *testing.T) {
	card := checked(t, withInline(hostdir(buildHostdir(t), ""), "only", true, ephemeral), check.RunOptions{Parallel: 2, WorkDir: workDir(t)})
	assert.Empty(t, verdicts(card))
	assert.Subset(t, passed(card, "inline"), append(familyOfInline, "no-attributes"))
}

// Given a driver that accepts inline volumes only with readOnly: true, when it is checked, then all
// trials of inline volumes use such volumes. Sound drivers pass, and defects are found.
func TestInlineVolumesThatHaveToBeReadOnlyAreTried(t *testing.T) {
	program := buildHostdir(t)
	readOnly := func(defect string) check.Subject {
		subject := withInline(hostdir(program, defect), "only", true, ephemeral)
		subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--inline-read-only")
		return subject
	}
	card := checked(t, readOnly(""), check.RunOptions{Parallel: 2, WorkDir: workDir(t)})
	assert.Empty(t, verdicts(card))
	assert.Subset(t, passed(card, "inline"), append(familyOfInline, "overlap-NodePublishVolume", "overlap-NodeUnpublishVolume", "stalled-NodePublishVolume", "stalled-NodeUnpublishVolume"))
	card = checked(t, readOnly("unpublish-not-found-errors"), check.RunOptions{WorkDir: workDir(t)}, "inline/lost-NodeUnpublishVolume")
	assert.Contains(t, verdicts(card), "NodeUnpublishVolume fails for good: NotFound: ")
}

func TestATrialFindsTheDefectsOfADriverWithInlineVolumes(t *testing.T) {
	for _, c := range []struct{ fault, trial, verdict string }{
		{"publish-not-idempotent", "inline/repeated", "NodePublishVolume is not idempotent: OK, then "},
		{"publish-not-idempotent", "inline/lost-NodePublishVolume", "NodePublishVolume fails for good: Internal: "},
		{"publish-not-idempotent", "inline/driver-killed-NodePublishVolume", "NodePublishVolume fails for good: Internal: "},
		{"publish-not-idempotent", "inline/kubelet-killed-NodePublishVolume", "NodePublishVolume fails for good: Internal: "},
		{"unpublish-leaks", "inline/restart-kubelet", "NodeUnpublishVolume has no effect: 1 mounted still: of /mock/"},
		{"publishes-device", "inline/life", "NodePublishVolume publishes no directory: a file lies at "},
		{"unpublish-not-idempotent", "inline/lost-NodeUnpublishVolume", "NodeUnpublishVolume fails for good: Internal: "},
		{"unpublish-not-idempotent", "inline/driver-killed-NodeUnpublishVolume", "NodeUnpublishVolume fails for good: Internal: "},
		{"unpublish-leaks", "inline/life", "NodeUnpublishVolume has no effect: 1 mounted still: of /mock/"},
		{"unpublish-leaks", "inline/many", "NodeUnpublishVolume has no effect: 1 mounted still: of /mock/"},
		{"forget-publications-on-restart", "inline/restart-driver-on-node", "NodeUnpublishVolume has no effect: 1 mounted still: of /mock/"},
	} {
		t.Run(c.fault+" by "+c.trial, func(t *testing.T) {
			t.Parallel()
			subject := lives(mocked(mock.Options{Ephemeral: true, Faulty: []string{c.fault}}), true, persistent, ephemeral)
			assert.Contains(t, verdicts(checked(t, subject, check.RunOptions{}, c.trial)), c.verdict)
		})
	}
}

// The volume of a pod gets the attributes of the subject.
func TestInlineVolumesHaveTheAttributesThatWereGiven(t *testing.T) {
	subject := lives(mocked(mock.Options{Ephemeral: true}), true, ephemeral)
	subject.Attributes = map[string]string{"size": "1Mi"}
	_, trials := planned(t, subject, check.RunOptions{})
	for _, trial := range trials {
		switch trial.Name() {
		case "inline/life":
			golden(t, "testdata/"+trial.File(), trial.Text)
		case "inline/wrong-attributes":
			assert.Contains(t, trial.Text, `volumeAttributes: {"csisim.dev/no-such-attribute": "wrong", "size": "csisim wrong value"}`)
		case "inline/no-attributes":
			assert.Equal(t, 1, strings.Count(trial.Text, "volumeAttributes"), "the first pod has none")
		}
	}
}

// A driver that refuses volumes offered by its CSIDriver object has one finding, not several.
func TestInlineVolumesThatAreRefusedAreOneFinding(t *testing.T) {
	card := checked(t, lives(mocked(mock.Options{}), true, persistent, ephemeral), check.RunOptions{Parallel: 2})
	require.Len(t, card.Findings(), 1, verdicts(card))
	assert.Len(t, card.Findings()[0].Shown, 1)
	assert.Equal(t, "inline/life", card.Findings()[0].Shown[0].Name())
	assert.Contains(t, verdicts(card), "NodePublishVolume refuses inline volumes, which the CSIDriver object offers")
	var refused []string
	for _, reason := range card.NotOffered() {
		if strings.HasPrefix(reason.Why, "inline volumes are refused, as inline/life shows: NodePublishVolume answers ") {
			refused = append(refused, check.Names(reason.Trials)...)
		}
	}
	assert.Contains(t, refused, "inline/repeated")
	assert.NotContains(t, refused, "inline/life")
}

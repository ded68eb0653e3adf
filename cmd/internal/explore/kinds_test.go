package explore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
)

// shownByKind lists, for each kind of fault, a mistake that faults of this kind alone reveal.
var shownByKind = map[fault.Kind]struct {
	mistake
	takes string
}{
	fault.Lost:     {mistake{"create-not-idempotent", "lifecycle", "CreateVolume is not idempotent: volume … then …", 0}, "answer lost"},
	fault.Errors:   {mistake{"", "lifecycle", "out of order: ControllerUnpublishVolume: volume … is detached from node …, where it is staged", seeded.UnstagedAtError}, "fails with Unavailable"},
	fault.Late:     {mistake{"stage-not-idempotent", "lifecycle", "NodeStageVolume fails for good: Internal", 0}, "answer late"},
	fault.Belated:  {mistake{"delete-not-idempotent", "lifecycle", "DeleteVolumeRequest is answered with NotFound: the CSI spec wants OK for what does not exist", 0}, fault.Belatedly},
	fault.Repeated: {mistake{"attach-not-idempotent", "lifecycle", "ControllerPublishVolume is not idempotent: OK, then Internal", 0}, "repeated"},
	fault.Overlaps: {mistake{"create-not-idempotent", "lifecycle", "CreateVolume is not idempotent: volume … then …", 0}, "comes twice at once"},
	// A mock acts at once; stalled programs are in the tests of check.
	fault.Stalls:  {mistake{"stage-not-idempotent", "lifecycle", "NodeStageVolume fails for good: Internal", 0}, "stalls in the driver"},
	fault.Killed:  {mistake{"forget-publications-on-restart", "lifecycle", "NodePublishVolume fails for good: FailedPrecondition", 0}, "driver killed before the driver acts"},
	fault.Crashed: {mistake{"stage-not-idempotent", "lifecycle", "NodeStageVolume fails for good: Internal", 0}, "caller killed before the driver acts"},
	fault.Power:   {mistake{"unpublish-not-idempotent", "lifecycle", "NodeUnpublishVolume fails for good: Internal", 0}, "node loses power before the driver acts"},
	fault.API:     {mistake{"attach-not-idempotent", "lifecycle", "ControllerPublishVolume fails for good: Internal", 0}, "API server away"},
	fault.User:    {mistake{"delete-leaks", "testdata/staying", "left behind: volume of CreateVolume, in spite of DeleteVolume", 0}, string(fault.ClaimsAgain)},
	fault.Sockets: {mistake{"node-id-changes", "testdata/returned", "ControllerPublishVolume fails for good: NotFound", 0}, string(fault.SocketVanishes)},
}

// Given a driver or a program of Kubernetes with a mistake that no calm run shows, when faults of
// one kind happen, then such a fault reveals the mistake, and the search names the responsible
// party. Without the mistake, no driver is responsible.
func TestEachKindOfFaultShowsAMistakeAndBlamesNoSoundDriver(t *testing.T) {
	const soundRuns = 30
	for _, kind := range fault.Kinds() {
		if slices.Contains([]fault.Kind{fault.Halfway, fault.Services, fault.Mounts, fault.Upgrades}, kind) {
			continue // these faults affect only programs
		}
		t.Run(string(kind), func(t *testing.T) {
			m, ok := shownByKind[kind]
			require.True(t, ok, "each kind has a mistake that it shows")
			o := usual(soundRuns)
			o.Space.Kinds = []fault.Kind{kind}
			sound, err := Of(context.Background(), fileOf(m.scenario), textOf(t, m.scenario), o)
			require.NoError(t, err)
			assert.Equal(t, soundRuns, sound.Runs)
			for _, f := range sound.Findings {
				assert.NotEqual(t, verdict.Driver, f.Blame, "%s with %v", f.Verdict, f.Choices)
			}

			f := findWith(t, m.mistake, m.plant(t), o)
			assert.True(t, slices.ContainsFunc(f.Choices, func(c explore.Choice) bool { return c.Takes == m.takes }), "with such a fault: %v", f.Choices)
			assert.Equal(t, m.own == 0, f.Blame == verdict.Driver)
		})
	}
}

// at is an action of a user or an administrator during the first call of a method.
type at struct {
	call   string
	action fault.Action
}

// actions is the strategy that takes each of its actions once.
type actions struct{ left []at }

func (d *actions) Choose(c kernel.Choice) int {
	for i, next := range d.left {
		if takes := slices.Index(c.Alternatives, string(next.action)); takes > 0 && strings.HasPrefix(c.Label, next.call+" ") {
			d.left = slices.Delete(d.left, i, i+1)
			return takes
		}
	}
	return 0
}

func (*actions) String() string { return "actions" }

// meanwhile runs a scenario with actions of users.
func meanwhile(t *testing.T, name string, faulty []string, done ...at) *scenario.Result {
	t.Helper()
	o := usual(1)
	o.Space = fault.Space{Kinds: []fault.Kind{fault.User, fault.Sockets}, Budget: len(done)}
	subject, err := newSubject(fileOf(name), textOf(t, name, faulty...), o)
	require.NoError(t, err)
	strategy := &actions{left: done}
	result, err := subject.run(context.Background(), strategy, nil)
	require.NoError(t, err)
	require.Empty(t, strategy.left, "all of them are done")
	return result
}

// Given a driver with a mistake that shows only when objects are deleted or recreated, when a user
// or an administrator does that to running workloads, then the search finds the mistake. With a
// sound driver, everything reaches the state that the scenario expects.
func TestActionsOfUsersShowAMistakeOfTheDriver(t *testing.T) {
	for action, by := range map[fault.Action]struct{ call, faulty, want string }{
		fault.PodsAgain:      {"NodePublishVolume", "unpublish-leaks", "NodeUnpublishVolume has no effect: … mounted still: of … at …"},
		fault.PodsByForce:    {"NodePublishVolume", "unpublish-leaks", "NodeUnpublishVolume has no effect: … mounted still: of … at …"},
		fault.ClaimsAgain:    {"CreateVolume", "delete-leaks", "left behind: volume of CreateVolume, in spite of DeleteVolume"},
		fault.AllAgain:       {"ControllerPublishVolume", "delete-leaks", "left behind: volume of CreateVolume, in spite of DeleteVolume"},
		fault.Scales:         {"NodeStageVolume", "unpublish-leaks", "NodeUnpublishVolume has no effect: … mounted still: of … at …"},
		fault.Drains:         {"NodePublishVolume", "unpublish-leaks", "NodeUnpublishVolume has no effect: … mounted still: of … at …"},
		fault.DeletesNode:    {"NodeStageVolume", "node-id-changes", "ControllerPublishVolume fails for good: NotFound"},
		fault.SocketVanishes: {"NodeStageVolume", "node-id-changes", "ControllerPublishVolume fails for good: NotFound"},
		fault.RegistersTwice: {"NodeStageVolume", "node-id-changes", "ControllerPublishVolume fails for good: NotFound"},
	} {
		t.Run(string(action), func(t *testing.T) {
			name := "testdata/staying"
			if by.faulty == "node-id-changes" {
				name = "testdata/returned"
			}
			assert.Empty(t, meanwhile(t, name, nil, at{by.call, action}).Failures, "a sound driver")
			faulty := meanwhile(t, name, []string{by.faulty}, at{by.call, action})
			assert.NotNil(t, Shows(faulty, by.want), "a driver with %s: %v", by.faulty, faulty.Failures)
		})
	}
}

// Two users that scale a workload to zero for a while do not leave it at zero.
func TestWorkloadsWithTwoScalersRecover(t *testing.T) {
	assert.Empty(t, meanwhile(t, "testdata/staying", nil, at{"NodeStageVolume", fault.Scales}, at{"NodeUnstageVolume", fault.Scales}).Failures)
}

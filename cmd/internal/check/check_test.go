package check_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/namespaces"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(clitest.WithBinaries(m))
}

// mocked is the reference driver in memory.
func mocked(o mock.Options) check.Subject {
	return check.Subject{Driver: scenario.Driver{Name: "mock.csi.csisim.dev", Mock: &o}}
}

// planned returns the trials of a driver, and its facts.
func planned(t testing.TB, s check.Subject, o check.RunOptions) (*check.Facts, []*check.Trial) {
	t.Helper()
	if o.WaitForDriver == 0 {
		o.WaitForDriver = shortWait
	}
	facts, err := check.Ask(context.Background(), s, o)
	require.NoError(t, err)
	trials, err := check.Plan(facts)
	require.NoError(t, err)
	return facts, trials
}

// shortWait is the time that tests wait for drivers with defects, because these never finish.
const shortWait = 2 * time.Second

// checked runs the trials with the given names, or all trials if there are no names.
func checked(t testing.TB, s check.Subject, o check.RunOptions, names ...string) *check.Card {
	t.Helper()
	if o.WaitForDriver == 0 {
		o.WaitForDriver = shortWait
	}
	facts, trials := planned(t, s, o)
	chosen := trials
	if len(names) > 0 {
		var err error
		chosen, err = check.Chosen(trials, names)
		require.NoError(t, err)
	}
	require.NotEmpty(t, chosen, "trials %v among %v", names, check.Names(trials))
	outcomes, err := check.Run(context.Background(), chosen, o)
	require.NoError(t, err)
	return &check.Card{Facts: facts, Outcomes: outcomes}
}

// broken returns a trial for a driver with a defect, from the plan for the sound driver. It inserts
// the text addition directly behind the text after. Probing and planning for each defect would take
// longer than the trial.
func broken(t *testing.T, trials []*check.Trial, name, after, addition string) *check.Trial {
	t.Helper()
	i := slices.IndexFunc(trials, func(one *check.Trial) bool { return one.Name() == name })
	require.GreaterOrEqual(t, i, 0, "trial %s among %v", name, check.Names(trials))
	trial := *trials[i]
	require.Contains(t, trial.Text, after)
	trial.Text = strings.Replace(trial.Text, after, after+addition, 1)
	return &trial
}

// tried returns the card of one trial.
func tried(t *testing.T, facts *check.Facts, trial *check.Trial) *check.Card {
	t.Helper()
	outcomes, err := check.Run(t.Context(), []*check.Trial{trial}, check.RunOptions{WorkDir: workDir(t), WaitForDriver: shortWait})
	require.NoError(t, err)
	return &check.Card{Facts: facts, Outcomes: outcomes}
}

// verdicts returns the findings of a card with their consequences, one finding per line.
func verdicts(c *check.Card) string {
	var lines []string
	for _, f := range c.Findings() {
		lines = append(lines, f.Text)
		for _, name := range f.Then {
			lines = append(lines, "then "+name)
		}
	}
	return strings.Join(lines, "\n")
}

func TestASoundDriverPassesWithAnyCapabilities(t *testing.T) {
	no := false
	for name, options := range map[string]mock.Options{
		"the usual":                 {},
		"without attach":            {Attach: &no},
		"without staging":           {Stage: &no},
		"without attach and stage":  {Attach: &no, Stage: &no},
		"that lists volumes":        {ListVolumes: true, ListVolumesPublishedNodes: true},
		"with topology":             {Topology: true},
		"with few volumes per node": {MaxVolumesPerNode: 3},
		"that can do all":           able,
		"that can do all, by topology": {
			Topology: true, ControllerExpand: true, NodeExpand: true, Snapshot: true, Clone: true, GetCapacity: true,
		},
		"with groups of snapshots": grouping,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Empty(t, verdicts(checked(t, mocked(options), check.RunOptions{Parallel: 2})))
		})
	}
}

// able is a driver with volumes that can grow and have snapshots.
var able = mock.Options{ControllerExpand: true, NodeExpand: true, Snapshot: true, Clone: true}

// grouping is a driver that takes snapshots of several volumes at once.
var grouping = mock.Options{Snapshot: true, ListSnapshots: true, GroupSnapshot: true}

func TestEverySidecarOfADriverIsRestarted(t *testing.T) {
	card := checked(t, mocked(able), check.RunOptions{},
		"restart/csi-provisioner", "restart/csi-attacher", "restart/csi-resizer", "restart/csi-snapshotter")
	assert.Empty(t, verdicts(card))
	assert.Len(t, card.Outcomes, 4)
}

// A driver that creates no volumes is checked with an existing volume.
func TestADriverThatCreatesNoVolumesIsCheckedWithTheGivenOne(t *testing.T) {
	subject := mocked(mock.Options{CreateDeleteVolume: new(false), Existing: []mock.ExistingVolume{{ID: "by-hand"}}})
	subject.Handle = "by-hand"
	card := checked(t, subject, check.RunOptions{Parallel: 2})
	assert.Empty(t, verdicts(card))
	passed := []string{}
	for _, o := range card.Outcomes {
		if o.Passed() {
			passed = append(passed, o.Name())
		}
	}
	assert.Subset(t, passed, []string{"life/filesystem", "restart/kubelet", "lost/NodeStageVolume"})
	assert.NotContains(t, passed, "claims/many", "nothing creates volumes for claims")
}

// Given a driver that creates no volumes, then a load on the driver names the volumes that exist.
func TestALoadReportsThatADriverCreatesNoVolumes(t *testing.T) {
	facts, _ := planned(t, mocked(mock.Options{CreateDeleteVolume: new(false), Existing: []mock.ExistingVolume{{ID: "by-hand"}}}), check.RunOptions{})
	assert.Regexp(t, `^the driver makes no volumes, .* --lifecycle Ephemeral$`, facts.Existing())
	facts, _ = planned(t, mocked(able), check.RunOptions{})
	assert.Empty(t, facts.Existing())
}

// If a driver counts sizes in larger units, requests use these units.
func TestVolumesHaveTheSizeOfTheProfile(t *testing.T) {
	subject := mocked(able)
	subject.VolumeSize = resource.MustParse("1Gi")
	_, trials := planned(t, subject, check.RunOptions{})
	for _, trial := range trials {
		assert.NotContains(t, trial.Text, "16Mi", trial.Name())
		if trial.Name() == "grow/in-use" {
			assert.Contains(t, trial.Text, "resources: {requests: {storage: 1Gi}}")
			assert.Contains(t, trial.Text, "- patch: {pvc: data, merge: {spec: {resources: {requests: {storage: 2Gi}}}}}")
		}
	}
}

func TestASoundDriverPassesInAnyOrderOfEvents(t *testing.T) {
	seeds := uint64(1)
	if *allTrials {
		seeds = 3
	}
	for seed := range seeds {
		o := check.RunOptions{Parallel: 2, Strategy: func() kernel.Strategy { return kernel.NewRandom(seed + 1) }}
		assert.Empty(t, verdicts(checked(t, mocked(mock.Options{}), o)), "seed %d", seed+1)
	}
}

// Given a driver that breaks one promise of the CSI spec, when the trial is run, then the verdict
// names the promise.
func TestATrialFindsTheDefectsOfADriver(t *testing.T) {
	for _, c := range []struct{ fault, trial, verdict string }{
		{"create-not-idempotent", "claims/repeated", "CreateVolume is not idempotent: volume vol-0001, then vol-0002"},
		{"create-not-idempotent", "contradicted/CreateVolume", "CreateVolume accepts a contradiction: a volume of 16777216 bytes made, then asked for by the same name with 33554432"},
		{"wrong-capacity", "claims/one", "CreateVolumeResponse.volume.capacity_bytes is 8388608, required were 16777216"},
		{"delete-not-idempotent", "claims/repeated", "DeleteVolume is not idempotent: OK, then NotFound"},
		{"delete-leaks", "claims/one", "left behind: volume vol-0001"},
		{"attach-not-idempotent", "repeated/filesystem", "ControllerPublishVolume is not idempotent: OK, then "},
		{"attach-not-idempotent", "lost/ControllerPublishVolume", "ControllerPublishVolume fails for good: Internal: volume vol-0001 is attached"},
		{"attaches-twice", "contradicted/ControllerPublishVolume", "ControllerPublishVolume accepts a contradiction: a single-node volume attached to node-a, then also to node-b"},
		{"detach-leaks", "life/filesystem", "DeleteVolume fails for good: FailedPrecondition: volume vol-0001 is in use"},
		{"detach-not-idempotent", "repeated/filesystem", "ControllerUnpublishVolume is not idempotent: OK, then "},
		{"stage-not-idempotent", "repeated/filesystem", "NodeStageVolume is not idempotent: OK, then "},
		{"unstage-leaks", "repeated/filesystem", "NodeUnstageVolume has no effect: 1 mounted still: "},
		{"unstage-not-idempotent", "repeated/filesystem", "NodeUnstageVolume is not idempotent: OK, then "},
		{"publish-not-idempotent", "repeated/filesystem", "NodePublishVolume is not idempotent: OK, then "},
		{"publish-not-idempotent", "crash-driver/NodePublishVolume", "NodePublishVolume fails for good: Internal: volume vol-0001 is published there already"},
		{"unpublish-leaks", "repeated/filesystem", "NodeUnpublishVolume has no effect: 1 mounted still: "},
		{"unpublish-not-idempotent", "repeated/filesystem", "NodeUnpublishVolume is not idempotent: OK, then "},
		{"forget-attachment-on-restart", "restart/driver-controller", "NodeStageVolume fails for good: FailedPrecondition: volume vol-0002 is not attached"},
	} {
		t.Run(c.fault+" by "+c.trial, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, verdicts(checked(t, mocked(mock.Options{Faulty: []string{c.fault}}), check.RunOptions{}, c.trial)), c.verdict)
		})
	}
}

func TestATrialFindsTheDefectsOfADriverWithGroups(t *testing.T) {
	for _, c := range []struct{ fault, trial, verdict string }{
		{"group-not-idempotent", "group/restored", "CreateVolumeGroupSnapshot is not idempotent: group snapshot group-0001, then group-0002"},
		{"group-not-idempotent", "group/lost-answers", "then left behind: snapshot of CreateVolumeGroupSnapshot"},
		{"group-lacks-volume", "group/restored", "CreateVolumeGroupSnapshotResponse.group_snapshot.snapshots are of [vol-0002]"},
		{"group-delete-leaks", "group/abandoned", "left behind: snapshot snap-0001"},
		{"create-drops-source", "group/restored", "CreateVolumeResponse.volume.content_source"},
	} {
		t.Run(c.fault+" by "+c.trial, func(t *testing.T) {
			t.Parallel()
			o := grouping
			o.Faulty = []string{c.fault}
			assert.Contains(t, verdicts(checked(t, mocked(o), check.RunOptions{}, c.trial)), c.verdict)
		})
	}
}

func TestAMissingFeatureIsNoTrialAndHasAReason(t *testing.T) {
	no := false
	card := checked(t, mocked(mock.Options{Attach: &no, MaxVolumesPerNode: 3}), check.RunOptions{Parallel: 2})
	var told []string
	for _, reason := range card.NotOffered() {
		told = append(told, fmt.Sprintf("%s: %s", reason.Why, strings.Join(check.Names(reason.Trials), " ")))
	}
	assert.Equal(t, []string{
		"the driver is no program: life/mount-options life/mount-group life/secrets life/again-and-again snapshot/full-disk snapshot/full-disk-restoring snapshot/full-disk-copying stalled/CreateVolume stalled/ControllerPublishVolume stalled/NodeStageVolume stalled/NodePublishVolume stalled/NodeUnpublishVolume stalled/NodeUnstageVolume stalled/ControllerUnpublishVolume stalled/DeleteVolume in-use/CreateVolume in-use/NodeStageVolume in-use/NodePublishVolume in-use/NodeUnpublishVolume " +
			"in-use/NodeUnstageVolume in-use/DeleteVolume in-use/block in-use/CreateSnapshot in-use/DeleteSnapshot " +
			"broken-mount/NodePublishVolume broken-mount/NodeUnpublishVolume broken-mount/NodeUnstageVolume " +
			"system-calls/CreateVolume system-calls/ControllerPublishVolume system-calls/NodeStageVolume system-calls/NodePublishVolume " +
			"system-calls/NodeUnpublishVolume system-calls/NodeUnstageVolume system-calls/ControllerUnpublishVolume system-calls/DeleteVolume",
		"the controller service lacks PUBLISH_UNPUBLISH_VOLUME: life/listed contradicted/ControllerPublishVolume lost/ControllerPublishVolume " +
			"lost/ControllerUnpublishVolume timed-out/ControllerPublishVolume timed-out/ControllerUnpublishVolume abandoned/ControllerPublishVolume crash-driver/ControllerPublishVolume " +
			"crash-driver/ControllerUnpublishVolume crash-caller/ControllerPublishVolume crash-caller/ControllerUnpublishVolume " +
			"overlap/ControllerPublishVolume overlap/ControllerUnpublishVolume",
		"the node service lacks GET_VOLUME_STATS: life/measured life/measured-block",
		"NodeGetInfo allows a node 3 volumes: share/many-volumes snapshot/of-two-volumes",
		"the controller service lacks EXPAND_VOLUME, as does the node service: grow/unused grow/in-use grow/lost-answers grow/twice grow/block grow/lowered grow/lowered-block grow/measured grow/measured-block grow/driver-killed-block",
		"the driver lacks EXPAND_VOLUME for ControllerExpandVolume: grow/driver-killed-ControllerExpandVolume",
		"the driver lacks EXPAND_VOLUME for NodeExpandVolume: grow/driver-killed-NodeExpandVolume",
		"the controller service lacks CREATE_DELETE_SNAPSHOT: snapshot/restored snapshot/lost-answers snapshot/two-of-one snapshot/source-deleted snapshot/restored-twice snapshot/larger snapshot/larger-block snapshot/driver-killed " +
			"snapshot/driver-killed-restoring listed/snapshots group/restored group/lost-answers group/abandoned group/member-deleted group/driver-killed contradicted/CreateSnapshot",
		"the controller service lacks CLONE_VOLUME: snapshot/cloned snapshot/cloned-again snapshot/cloned-source-deleted snapshot/clone-deleted snapshot/cloned-larger snapshot/cloned-larger-block snapshot/driver-killed-cloning contradicted/clone",
		"the controller service lacks LIST_VOLUMES: listed/volumes",
	}, told)
	assert.Zero(t, card.Totals().NotTried)
	assert.Empty(t, card.NotTried())
}

func TestEachScenarioOfAPlanHasAUniqueNameAndADescription(t *testing.T) {
	_, trials := planned(t, mocked(mock.Options{}), check.RunOptions{})
	seen := map[string]bool{}
	for _, trial := range trials {
		assert.False(t, seen[trial.Name()], trial.Name())
		seen[trial.Name()] = true
		if trial.NotOffered != "" {
			continue
		}
		s, err := trial.Scenario()
		require.NoError(t, err)
		assert.Equal(t, trial.Name(), s.Name)
		assert.NotEmpty(t, s.Description)
		assert.NotEmpty(t, s.Steps)
	}
}

func TestAnInterruptEndsTheTrials(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, trials := planned(t, mocked(mock.Options{}), check.RunOptions{})
	o := check.RunOptions{Progress: func(p check.Progress) {
		if p.Ended == 2 {
			cancel()
		}
	}}
	outcomes, err := check.Run(ctx, trials, o)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, outcomes, len(trials))
	assert.False(t, outcomes[len(outcomes)-1].Passed())
}

// Given all trials of a driver, then the card has a line for each offered trial.
func TestEveryTrialIsOnTheCard(t *testing.T) {
	facts, trials := planned(t, mocked(grouping), check.RunOptions{})
	card := &check.Card{Facts: facts}
	offered := 0
	for _, trial := range trials {
		card.Outcomes = append(card.Outcomes, check.Outcome{Trial: trial})
		if trial.NotOffered == "" {
			offered++
		}
	}
	onCard := 0
	for _, line := range card.Lines() {
		onCard += len(line.Outcomes)
	}
	assert.Equal(t, offered, onCard)
}

func TestTheCardIsReadable(t *testing.T) {
	card := checked(t, mocked(mock.Options{Faulty: []string{"stage-not-idempotent"}, MaxVolumesPerNode: 3}), check.RunOptions{Parallel: 2})
	card.Took = 1500 * time.Millisecond
	card.Replay = func(t *check.Trial) string { return "csisim check --only " + t.Name() + " -- my-driver" }
	for name, terminal := range map[string]report.Terminal{
		"pipe":     {},
		"terminal": {Live: true, Color: true, Width: 100},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			require.NoError(t, card.Text(&text, terminal))
			golden(t, "testdata/card-"+name+".txt", text.String())
		})
	}
}

func TestAComposedScenarioIsReadable(t *testing.T) {
	_, trials := planned(t, mocked(mock.Options{}), check.RunOptions{})
	for _, trial := range trials {
		if trial.Name() == "lost/NodeStageVolume" || trial.Name() == "reboot/running" {
			golden(t, "testdata/"+trial.File(), trial.Text)
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// Given a driver that breaks the CSI spec when its sidecars start. When it is checked, then its
// trials still run and show the breach.
func TestADriverThatBreaksTheSpecAtItsStartIsChecked(t *testing.T) {
	lists := mock.Options{ListVolumes: true, ListVolumesPublishedNodes: true, Existing: []mock.ExistingVolume{{ID: "vol-a"}}, Faulty: []string{"list-repeats-volume"}}
	card := checked(t, mocked(lists), check.RunOptions{}, "claims/one")
	assert.Contains(t, verdicts(card), "ListVolumesResponse.entries has vol-a twice")
}

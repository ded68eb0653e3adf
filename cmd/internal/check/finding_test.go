package check

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

func trialOf(name string, findings ...Finding) []Finding {
	group, title, _ := strings.Cut(name, "/")
	for i := range findings {
		findings[i].Shown = []Outcome{{Trial: &Trial{Group: group, Title: title}}}
	}
	return findings
}

// idempotence and refusal are the two forms of a call that fails when it is repeated.
func idempotence(words string) Finding {
	first := contract.Outcome{}
	second := contract.Outcome{Err: status.Error(codes.Internal, words)}
	return Finding{Verdict: contract.CheckRepeat("Node/NodeStageVolume", first, second)[0], rank: verdict.Breach}
}

func failing(words string) Finding {
	call := trace.Entry{Kind: trace.Call, Method: "Node/NodeStageVolume", Code: "Internal", Message: words}.Event()
	return Finding{Verdict: refused(scenario.Failure{}, call).Verdict, rank: verdict.Refuses}
}

// Given a defect with two forms, then both forms have the same name.
func TestVariantsOfADefectAreMerged(t *testing.T) {
	unstage := trace.Entry{Kind: trace.Call, Method: "Node/NodeUnstageVolume", Response: &csi.NodeUnstageVolumeResponse{}}.Event()
	unpublish := trace.Entry{Kind: trace.Call, Method: "Node/NodeUnpublishVolume", Response: &csi.NodeUnpublishVolumeResponse{}}.Event()
	inline := ledger.Entry{Kind: ledger.Volume, Name: "csi-1", Undo: "NodeUnpublishVolume", Undone: &ledger.StepEvent{Event: unpublish}}
	still := contract.CheckEffect("Node/NodeUnpublishVolume", &csi.NodeUnpublishVolumeRequest{}, contract.Outcome{Mounts: []string{"x"}})
	left := ledger.Entry{Kind: ledger.Mount, Name: "/x", Node: "node-a", Undo: "NodeUnstageVolume", Undone: &ledger.StepEvent{Event: unstage}}
	mounted := contract.CheckEffect("Node/NodeUnstageVolume", &csi.NodeUnstageVolumeRequest{}, contract.Outcome{Mounts: []string{"x"}})
	shown := [][]Finding{
		trialOf("repeated/a", idempotence("volume vol-1 is staged already"), Finding{Verdict: mounted[0], rank: verdict.NoEffect}),
		trialOf("lost/a", failing("volume vol-7 is staged already")),
		trialOf("lost/b", failing("disk is full")),
		trialOf("life/a", Finding{Verdict: left.Verdict(), rank: verdict.Leaks}),
		trialOf("repeated/b", answered(volume("v", 1), volume("v", 0))),
		trialOf("repeated/c", answered(volume("v", 1), volume("v", 1, "zone")), answered(volume("v", 1), volume("w", 1))),
		trialOf("lost/c", empty("CreateVolumeGroupSnapshot", "group_snapshot.snapshots.snapshot_id"), empty("CreateVolumeGroupSnapshot", "group_snapshot.snapshots.source_volume_id")),
		trialOf("repeated/d", Finding{Verdict: contract.CheckRepeat("GroupController/CreateVolumeGroupSnapshot", group("s1"), group(""))[0], rank: verdict.Breach}),
		trialOf("lost/d", empty("NodeGetInfo", "node_id")),
		trialOf("inline/life", Finding{Verdict: inline.Verdict(), rank: verdict.Leaks}),
		trialOf("broken-mount/a", Finding{Verdict: still[0], rank: verdict.NoEffect}),
	}
	assert.NotEqual(t, shown[6][0].Name, shown[7][0].Name)
	unite(shown)
	assert.Equal(t, shown[7][0].Name, shown[6][0].Name, "the answer to a repeated call lacks the field")
	assert.Equal(t, shown[7][0].Name, shown[6][1].Name, "it lacks another field of the same message")
	assert.NotEqual(t, shown[7][0].Name, shown[8][0].Name, "no answer had the field")
	assert.Equal(t, shown[0][0].Name, shown[1][0].Name)
	assert.Equal(t, shown[0][0].Name, shown[2][0].Name, "the words of a driver are not part of a name")
	assert.Equal(t, shown[0][1].Name, shown[3][0].Name)
	assert.Equal(t, shown[4][0].Name, shown[5][0].Name, "the answer to a repeated call has other values")
	assert.NotEqual(t, shown[4][0].Name, shown[5][1].Name, "a second volume is another defect")
	assert.NotEqual(t, shown[9][0].Name, shown[10][0].Name, "an inline volume stays, but not its mount")
}

// empty is an answer to a call that lacks a required field.
func empty(call, field string) Finding {
	v := verdict.Verdict{Method: "Service/" + call, Form: contract.RequiresIt, Field: call + "Response." + field}
	return Finding{Verdict: v.Worded(verdict.Say("%s is empty", verdict.Kept(v.Field))), rank: verdict.Breach}
}

func group(snapshot string) contract.Outcome {
	cut := &csi.VolumeGroupSnapshot{GroupSnapshotId: "g", Snapshots: []*csi.Snapshot{{SnapshotId: snapshot, SourceVolumeId: "v"}}}
	return contract.Outcome{Answer: &csi.CreateVolumeGroupSnapshotResponse{GroupSnapshot: cut}}
}

// answered is a CreateVolume call that gets another volume as its answer when it is repeated.
func answered(first, second *csi.Volume) Finding {
	outcome := func(v *csi.Volume) contract.Outcome {
		return contract.Outcome{Answer: &csi.CreateVolumeResponse{Volume: v}}
	}
	return Finding{Verdict: contract.CheckRepeat("Controller/CreateVolume", outcome(first), outcome(second))[0], rank: verdict.Breach}
}

func volume(id string, bytes int64, zones ...string) *csi.Volume {
	v := &csi.Volume{VolumeId: id, CapacityBytes: bytes}
	for _, zone := range zones {
		v.AccessibleTopology = append(v.AccessibleTopology, &csi.Topology{Segments: map[string]string{"zone": zone}})
	}
	return v
}

// Given an error text that quotes the sentences of other verdicts, then it changes no verdict.
func TestAnErrorTextThatQuotesVerdictsChangesNone(t *testing.T) {
	for _, words := range []string{
		"NodeUnstageVolume has no effect: 1 mounted still", "left behind: mount /x, which never came", "data lost: x",
		"x accepts a contradiction: y", "timed out waiting for the condition: pod web gone",
	} {
		f := failing(words)
		assert.Equal(t, verdict.Answers, f.Breaks, words)
		assert.Equal(t, contract.FailsForGood, f.Form, words)
		assert.Equal(t, verdict.Driver, f.Blame(), words)
		again := idempotence(words)
		assert.Equal(t, verdict.Idempotent, again.Breaks, words)
		assert.Equal(t, "NodeStageVolume is not idempotent: OK, then Internal", again.Name, words)
	}
}

// The consequence of a defect is no separate finding, unless a trial shows only the consequence.
func TestTheConsequenceOfADefectIsNoSeparateFinding(t *testing.T) {
	breaks := idempotence("no")
	waiting := Finding{Verdict: verdict.Plain("timed out waiting for the condition: pod web gone"), rank: verdict.Waits}
	assert.Equal(t, map[string]bool{breaks.Name: true}, causes([][]Finding{trialOf("a/a", breaks, waiting)}))
	long := Finding{Verdict: verdict.Verdict{Method: "Controller/CreateSnapshot", Form: "the CSI spec's Size Limits", Field: "snapshot.snapshot_id", Name: "snapshot_id is long"}, rank: verdict.Breach}
	assert.Contains(t, causes([][]Finding{trialOf("a/a", long, waiting)}), waiting.Name, "no failure follows from a long id")
	both := causes([][]Finding{trialOf("a/a", breaks, waiting), trialOf("a/b", waiting)})
	assert.True(t, both["timed out waiting for the condition: pod … gone"])
}

// Given a driver that loses its records at a restart, then all calls that do not find their objects
// are one finding. If a call does not find its object without a restart, this is another finding.
func TestCallsThatFindNothingAfterARestartAreOneFinding(t *testing.T) {
	restarted := trace.Transition{Part: trace.Plugin, Name: "driver d", Verb: trace.Killed, Driver: "d"}.Entry("node-a").Event()
	powerless := trace.Transition{Part: trace.Power, Name: "power", Verb: trace.Lost}.Entry("node-a").Event()
	refusedIn := func(trial, method, code string, events ...*trace.Event) Finding {
		call := trace.Entry{Kind: trace.Call, Method: method, Code: code, Message: "no such volume"}.Event()
		f := trialOf(trial, Finding{Verdict: refused(scenario.Failure{}, call).Verdict})[0]
		f.Shown[0].Result = &scenario.Result{Trace: events}
		return f
	}
	merged := merge([]Finding{
		refusedIn("restart/driver-on-node", "Node/NodePublishVolume", "NotFound", restarted),
		refusedIn("repeated/filesystem", "Node/NodeUnpublishVolume", "NotFound"),
		refusedIn("reboot/running", "Controller/CreateVolume", "NotFound", powerless),
		refusedIn("restart/while-running", "Node/NodeStageVolume", "Internal", restarted),
	}, forgets)
	var names []string
	for _, f := range merged {
		names = append(names, strings.Join(append([]string{f.Name}, f.Likewise...), ", "))
	}
	assert.Equal(t, []string{
		"NodePublishVolume fails for good: NotFound, CreateVolume",
		"NodeUnpublishVolume fails for good: NotFound",
		"NodeStageVolume fails for good: Internal",
	}, names)
	assert.Equal(t, "the driver does not find objects that it knew before it started again", merged[0].hint())
	assert.Empty(t, merged[1].hint())
}

// Given a call that takes effect twice, when the inverse call undoes only one of the effects, then
// that is not a separate finding.
func TestAnUndoOfTwoEffectsIsAConsequence(t *testing.T) {
	mounted := []string{"of /v at /target", "of /v at /target"}
	twice := contract.CheckOverlap("Node/NodePublishVolume", nil, mounted)[0]
	left := Finding{Verdict: contract.CheckEffect("Node/NodeUnpublishVolume", &csi.NodeUnpublishVolumeRequest{}, contract.Outcome{Mounts: mounted[:1]})[0]}
	assert.True(t, left.undoesOneOf(Finding{Verdict: twice}))
	assert.False(t, left.undoesOneOf(idempotence("no")), "it failed")
	staged := contract.StacksMounts("Node/NodeStageVolume", 1, 2)
	assert.False(t, left.undoesOneOf(Finding{Verdict: staged}), "another call undoes that")
}

// A leak that results from a failed call is not an additional cause.
func TestALeakBelongsToTheCallThatFails(t *testing.T) {
	fails := Finding{Verdict: contract.Broken("Node/NodeUnpublishVolume", contract.NotIdempotent, verdict.Say("OK, then Internal"))}
	fails.Verdict.Code = codes.Internal.String()
	left := func(code codes.Code) Finding {
		f := fails
		f.Verdict = verdict.Verdict{Breaks: verdict.LeftBehind, Kind: "directory", Undo: "NodeUnpublishVolume", Code: code.String(), Name: "left behind: directory"}
		return f
	}
	shown := []Finding{fails, left(codes.Internal), left(codes.OK)}
	Unite(shown)
	assert.Equal(t, []string{fails.Name, fails.Name, "left behind: directory"}, []string{shown[0].Name, shown[1].Name, shown[2].Name})
}

// A driver that does not release a lock refuses many calls.
func TestOneLockIsOneLineOfTheCard(t *testing.T) {
	locked := func(method string, form verdict.Form, code string) Finding {
		return Finding{Verdict: verdict.Verdict{Method: method, Form: form, Code: code}, Failure: scenario.Failure{}}
	}
	merged := merge([]Finding{
		locked("Node/NodeUnpublishVolume", contract.KeepsLock, ""), locked("Controller/DeleteVolume", contract.KeepsLock, ""),
		locked("Controller/CreateVolume", contract.FailsForGood, "Aborted"), locked("Controller/CreateVolume", contract.FailsForGood, "Internal"),
	}, alike)
	assert.Len(t, merged, 2)
	assert.Equal(t, []string{"DeleteVolume", "CreateVolume"}, merged[0].Likewise)
}

// Given two findings on lost data, then their titles show the difference.
func TestTheTitleOfLostDataNamesTheFoundContent(t *testing.T) {
	for found, want := range map[string]string{
		"an empty directory":          "data lost: found an empty directory",
		"generation 1 of volume d^v1": "data lost",
	} {
		text := "pod default/web does not find its data: volume v on node-a: expected generation 2, found " + found
		v := verdict.Verdict{Breaks: verdict.Data}.Worded(verdict.Say("data lost: %s", verdict.Quoted(text)))
		assert.Equal(t, want, Finding{Verdict: v}.title())
	}
}

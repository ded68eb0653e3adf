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

// Given a defect in two forms, then both have one name.
func TestFormsOfADefectAreUnited(t *testing.T) {
	unstage := trace.Entry{Kind: trace.Call, Method: "Node/NodeUnstageVolume", Response: &csi.NodeUnstageVolumeResponse{}}.Event()
	left := ledger.Entry{Kind: ledger.Mount, Name: "/x", Node: "node-a", Undo: "NodeUnstageVolume", Undone: &ledger.StepEvent{Event: unstage}}
	mounted := contract.CheckEffect("Node/NodeUnstageVolume", &csi.NodeUnstageVolumeRequest{}, contract.Outcome{Mounts: []string{"x"}})
	shown := [][]Finding{
		trialOf("repeated/a", idempotence("volume vol-1 is staged already"), Finding{Verdict: mounted[0], rank: verdict.NoEffect}),
		trialOf("lost/a", failing("volume vol-7 is staged already")),
		trialOf("lost/b", failing("disk is full")),
		trialOf("life/a", Finding{Verdict: left.Verdict(), rank: verdict.Leaks}),
		trialOf("repeated/b", answered(volume("v", 1), volume("v", 0))),
		trialOf("repeated/c", answered(volume("v", 1), volume("v", 1, "zone")), answered(volume("v", 1), volume("w", 1))),
	}
	unite(shown)
	assert.Equal(t, shown[0][0].Name, shown[1][0].Name)
	assert.Equal(t, shown[0][0].Name, shown[2][0].Name, "the words of a driver are not part of a name")
	assert.Equal(t, shown[0][1].Name, shown[3][0].Name)
	assert.Equal(t, shown[4][0].Name, shown[5][0].Name, "the answer to a repeated call has other values")
	assert.NotEqual(t, shown[4][0].Name, shown[5][1].Name, "a second volume is another defect")
}

// answered is a call to create a volume that is answered with another volume when it is repeated.
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

// The consequence of a defect is no finding of its own, unless a trial shows it alone.
func TestWhatFollowsFromADefectIsNoFindingOfItsOwn(t *testing.T) {
	breaks := idempotence("no")
	waiting := Finding{Verdict: verdict.Plain("timed out waiting for the condition: pod web gone"), rank: verdict.Waits}
	assert.Equal(t, map[string]bool{breaks.Name: true}, causes([][]Finding{trialOf("a/a", breaks, waiting)}))
	both := causes([][]Finding{trialOf("a/a", breaks, waiting), trialOf("a/b", waiting)})
	assert.True(t, both["timed out waiting for the condition: pod … gone"])
}

// A driver refuses to attach a volume that is attached elsewhere, as it has to, whether it is
// detached then or not: no further call may be made before a wait is over. It has to attach a
// volume for many nodes, and one that was detached. C-ADC-34
func TestWhoRefusesToAttachAVolumeTwiceDoesNotRefuseForGood(t *testing.T) {
	attach := func(node, code string, mode csi.VolumeCapability_AccessMode_Mode) *trace.Event {
		return trace.Entry{Kind: trace.Call, Method: "Controller/ControllerPublishVolume", Code: code, Request: &csi.ControllerPublishVolumeRequest{
			VolumeId: "v", NodeId: node, VolumeCapability: &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode}},
		}}.Event()
	}
	detach := trace.Entry{Kind: trace.Call, Method: "Controller/ControllerUnpublishVolume", Request: &csi.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: "a"}}.Event()
	const one, many = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	refused := attach("b", "FailedPrecondition", one)
	assert.Nil(t, refusal([]*trace.Event{attach("a", "", one), refused}, false), "it is not detached")
	assert.Nil(t, refusal([]*trace.Event{attach("a", "", one), refused, detach}, false), "the call is not repeated")
	lost := attach("a", "Unavailable", one)
	lost.Injected = "driver did it, answer lost, code Unavailable"
	assert.Nil(t, refusal([]*trace.Event{lost, refused}, false), "it may be attached there")
	assert.Same(t, refused, refusal([]*trace.Event{attach("a", "", one), detach, refused}, false), "it was detached before")
	assert.Same(t, refused, refusal([]*trace.Event{refused}, false), "it was attached nowhere")
	shared := attach("b", "FailedPrecondition", many)
	assert.Same(t, shared, refusal([]*trace.Event{attach("a", "", many), shared}, false), "many nodes may have it")
	internal := attach("b", "Internal", one)
	assert.Same(t, internal, refusal([]*trace.Event{attach("a", "", one), internal}, false), "for another reason")
}

// Given a driver that a fault has killed, when no server answers at its socket until the run ends,
// then it has refused nothing. A live driver does refuse, and so does one that was started again.
func TestADriverThatIsDownRefusesNothing(t *testing.T) {
	fault := func(node string, verb trace.Verb) *trace.Event {
		return trace.Transition{Part: trace.Plugin, Name: "driver d", Verb: verb, Driver: "d"}.Entry(node).Event()
	}
	unpublish := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	killed, started := fault("node-a", trace.Killed), fault("node-a", trace.Started)
	assert.Nil(t, refusal([]*trace.Event{killed, unpublish}, true))
	assert.Same(t, unpublish, refusal([]*trace.Event{unpublish, killed}, true), "it lived")
	assert.Same(t, unpublish, refusal([]*trace.Event{killed, started, unpublish}, true), "it lives again")
	assert.Same(t, unpublish, refusal([]*trace.Event{fault("", trace.Killed), fault("node-b", trace.Killed), unpublish}, true), "others are down")
	remove := trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/DeleteVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	assert.Nil(t, refusal([]*trace.Event{fault("", trace.Killed), remove}, true))
	west := fault("node-a", trace.Killed)
	west.Site.Cluster = "west"
	east := trace.Entry{Kind: trace.Call, Cluster: "east", Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable"}.Event()
	assert.Same(t, east, refusal([]*trace.Event{west, east}, true), "that of another cluster is down")
}

// Given a volume that is staged at one path, when a kubelet of another version stages it at another
// one, then the driver may refuse it. It has to stage a volume that was unstaged, and one at the
// same path.
func TestADriverMayRefuseToStageAVolumeElsewhere(t *testing.T) {
	stage := func(path, code string) *trace.Event {
		return trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeStageVolume", Code: code, Request: &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: path}}.Event()
	}
	unstage := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnstageVolume", Request: &csi.NodeUnstageVolumeRequest{VolumeId: "v"}}.Event()
	other := stage("/new", "FailedPrecondition")
	assert.Nil(t, refusal([]*trace.Event{stage("/old", ""), other}, false))
	lost := stage("/old", "Unavailable")
	lost.Injected = "driver did it, answer lost, code Unavailable"
	assert.Nil(t, refusal([]*trace.Event{lost, other}, false), "it may be staged there")
	assert.Same(t, other, refusal([]*trace.Event{stage("/old", ""), unstage, other}, false), "it was unstaged")
	again := stage("/old", "FailedPrecondition")
	assert.Same(t, again, refusal([]*trace.Event{stage("/old", ""), again}, false), "it is staged there")
}

package check

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/defect"
	"github.com/csisim/csisim/internal/invariant"
	"github.com/csisim/csisim/internal/world/trace"
)

// A defect has one name, whichever pod, volume, time, path or pointer its verdict has.
func TestTheNameOfAFindingIsThatOfItsDefect(t *testing.T) {
	for verdict, name := range map[string]string{
		"NodeStageVolume is not idempotent: OK, then Internal (volume vol-3c5fd5bd is staged at /var/lib/kubelet/x/globalmount already)": "NodeStageVolume is not idempotent: OK, then Internal",
		"CreateVolume is not idempotent: volume vol-0001, then vol-0002":                                                                 "CreateVolume is not idempotent: volume … then …",
		"NodePublishVolume is not idempotent: 1 mount, then 2":                                                                           "NodePublishVolume is not idempotent: … mount, then …",
		"NodeUnpublishVolume has no effect: 1 mounted still: of /mock/a/pvc-1 at /var/lib/kubelet/pods/b/mount":                          "NodeUnpublishVolume has no effect: … mounted still: of … at …",
		"timed out waiting for the condition: pod web-3 gone (after 10m0s of cluster time)":                                              "timed out waiting for the condition: pod … gone",
		"CreateVolume fails for good: Internal: open &{{0x3b88477f0c80 [1 2]}}: no space":                                                "CreateVolume fails for good: Internal: open …: no space",
		"NodePublishVolume fails for good: Internal: mount \"a b\" failed at 2026-11-22T18:00:00Z after 1.5s: exit status 32":            "NodePublishVolume fails for good: Internal: mount … failed at … after …: exit status …",
		`CreateVolume logs a secret: d-node-a-1.log has the value of key: name:pvc-0001 secrets:{"key":"***redacted***"} zone:b`:         "CreateVolume logs a secret …",
		"left behind: mount /var/lib/x/globalmount on node-a: made by NodeStageVolume at 10.1 s (step 4: wait pod web, phase Running), should have gone with NodeUnstageVolume at 11.1 s (step 6: wait pod web, gone true), which answered OK (and 1 more)": "left behind: mount of NodeStageVolume, in spite of NodeUnstageVolume",
		"left behind: volume vol-0001 (of driver mock.csi.csisim.dev, has no PersistentVolume): made by CreateVolume at 1 s, should have gone with DeleteVolume, which never came":                                                                          "left behind: volume of CreateVolume, without DeleteVolume",
		"driver died: driver x.csi.example.com on node-2 in NodeStageVolume: panic: no backend for volume vol-3c5f (exit status 2) (and 1 more)":                                                                                                            "driver died: driver … in NodeStageVolume: panic: no backend for volume …",
		"data lost: pod default/second does not find its data on pvc-1 (and 2 more)":                                                                                                                                                                        "data lost: pod … does not find its data on …",
	} {
		assert.Equal(t, name, defect.NameOf(verdict), verdict)
	}
}

func trialOf(name string, findings ...Finding) []Finding {
	group, title, _ := strings.Cut(name, "/")
	for i := range findings {
		findings[i].Name = defect.NameOf(findings[i].Verdict)
		findings[i].Shown = []Outcome{{Trial: &Trial{Group: group, Title: title}}}
	}
	return findings
}

// The two forms of one defect have one name.
func TestFormsOfADefectAreUnited(t *testing.T) {
	shown := [][]Finding{
		trialOf("repeated/a", Finding{Verdict: "NodeStageVolume is not idempotent: OK, then Internal (volume vol-1 is staged already)"}, Finding{Verdict: "NodeUnstageVolume has no effect: 1 mounted still: x", rank: invariant.NoEffect}),
		trialOf("lost/a", Finding{Verdict: "NodeStageVolume fails for good: Internal: volume vol-7 is staged already", rank: invariant.Refuses}),
		trialOf("lost/b", Finding{Verdict: "NodeStageVolume fails for good: Internal: disk is full", rank: invariant.Refuses}),
		trialOf("life/a", Finding{Verdict: "left behind: mount /x on node-a: made by NodeStageVolume at 1 s, should have gone with NodeUnstageVolume at 2 s, which answered OK", rank: invariant.Leaks}),
	}
	unite(shown)
	assert.Equal(t, shown[0][0].Name, shown[1][0].Name)
	assert.NotEqual(t, shown[0][0].Name, shown[2][0].Name, "for another reason")
	assert.Equal(t, shown[0][1].Name, shown[3][0].Name)
}

// What follows from a defect is no finding of its own, unless a trial shows it alone.
func TestWhatFollowsFromADefectIsNoFindingOfItsOwn(t *testing.T) {
	breaks := Finding{Verdict: "NodeStageVolume is not idempotent: OK, then Internal", rank: invariant.Breach}
	waiting := Finding{Verdict: "timed out waiting for the condition: pod web gone", rank: invariant.Waits}
	assert.Equal(t, map[string]bool{breaks.Verdict: true}, causes([][]Finding{trialOf("a/a", breaks, waiting)}))
	both := causes([][]Finding{trialOf("a/a", breaks, waiting), trialOf("a/b", waiting)})
	assert.True(t, both["timed out waiting for the condition: pod … gone"])
}

// A driver refuses to attach a volume that is attached elsewhere, as it has to, whether it is detached then or not: nobody may ask again
// before a wait is over. A volume for many nodes, and one that was detached, it has to attach. C-ADC-34
func TestWhoRefusesToAttachAVolumeTwiceDoesNotRefuseForGood(t *testing.T) {
	attach := func(node, code string, mode csi.VolumeCapability_AccessMode_Mode) *trace.Event {
		return trace.Entry{Kind: trace.Call, Method: "Controller/ControllerPublishVolume", Code: code, Request: &csi.ControllerPublishVolumeRequest{
			VolumeId: "v", NodeId: node, VolumeCapability: &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode}},
		}}.Event()
	}
	detach := trace.Entry{Kind: trace.Call, Method: "Controller/ControllerUnpublishVolume", Request: &csi.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: "a"}}.Event()
	const one, many = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	refused := attach("b", "FailedPrecondition", one)
	assert.Nil(t, refusal([]*trace.Event{attach("a", "", one), refused}, false), "nobody detaches it")
	assert.Nil(t, refusal([]*trace.Event{attach("a", "", one), refused, detach}, false), "nobody asks again")
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

// Given a driver that a fault has killed, when nobody answers at its socket until the run ends, then it has refused nothing. One that lives does, and
// so does one that was started again.
func TestADriverThatIsDownRefusesNothing(t *testing.T) {
	fault := func(node, message string) *trace.Event {
		return trace.Entry{Kind: trace.FaultFired, Node: node, Message: message}.Event()
	}
	unpublish := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	killed, started := fault("node-a", "driver d on node-a killed"), fault("node-a", "driver d on node-a started")
	assert.Nil(t, refusal([]*trace.Event{killed, unpublish}, true))
	assert.Same(t, unpublish, refusal([]*trace.Event{unpublish, killed}, true), "it lived")
	assert.Same(t, unpublish, refusal([]*trace.Event{killed, started, unpublish}, true), "it lives again")
	assert.Same(t, unpublish, refusal([]*trace.Event{fault("", "driver d, controller killed"), fault("node-b", "driver d on node-b killed"), unpublish}, true), "others are down")
	remove := trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/DeleteVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	assert.Nil(t, refusal([]*trace.Event{fault("", "driver d, controller killed"), remove}, true))
	west := trace.Entry{Kind: trace.FaultFired, Cluster: "west", Node: "node-a", Message: "driver d on node-a in west killed"}.Event()
	east := trace.Entry{Kind: trace.Call, Cluster: "east", Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable"}.Event()
	assert.Same(t, east, refusal([]*trace.Event{west, east}, true), "that of another cluster is down")
}

// Given a volume that is staged at one path, when a kubelet of another version wants it at another one, then the driver may refuse it; what was
// unstaged, or is asked for at the same path, it has to stage.
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

package blame

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

// A driver must refuse to attach a volume that is attached elsewhere. A later detachment does not
// matter, because there may be no further call before a wait is over. It must attach a volume for
// many nodes, and a volume that was detached. C-ADC-34
func TestARefusalToAttachAVolumeTwiceIsNotPermanent(t *testing.T) {
	attach := func(node, code string, mode csi.VolumeCapability_AccessMode_Mode) *trace.Event {
		return trace.Entry{Kind: trace.Call, Method: "Controller/ControllerPublishVolume", Code: code, Request: &csi.ControllerPublishVolumeRequest{
			VolumeId: "v", NodeId: node, VolumeCapability: &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode}},
		}}.Event()
	}
	detach := trace.Entry{Kind: trace.Call, Method: "Controller/ControllerUnpublishVolume", Request: &csi.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: "a"}}.Event()
	const one, many = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	refused := attach("b", "FailedPrecondition", one)
	assert.Nil(t, Refusal([]*trace.Event{attach("a", "", one), refused}, false), "it is not detached")
	assert.Nil(t, Refusal([]*trace.Event{attach("a", "", one), refused, detach}, false), "the call is not repeated")
	lost := attach("a", "Unavailable", one)
	lost.Injected = "driver did it, answer lost, code Unavailable"
	assert.Nil(t, Refusal([]*trace.Event{lost, refused}, false), "it may be attached there")
	assert.Same(t, refused, Refusal([]*trace.Event{attach("a", "", one), detach, refused}, false), "it was detached before")
	assert.Same(t, refused, Refusal([]*trace.Event{refused}, false), "it was attached nowhere")
	shared := attach("b", "FailedPrecondition", many)
	assert.Same(t, shared, Refusal([]*trace.Event{attach("a", "", many), shared}, false), "many nodes may have it")
	internal := attach("b", "Internal", one)
	assert.Same(t, internal, Refusal([]*trace.Event{attach("a", "", one), internal}, false), "for another reason")
}

// Given a driver that a fault has killed, when no server answers at its socket until the end of the
// run, then the driver has refused nothing. A running driver can refuse, and so can a restarted
// one.
func TestADriverThatIsDownRefusesNothing(t *testing.T) {
	fault := func(node string, verb trace.Verb) *trace.Event {
		return trace.Transition{Part: trace.Plugin, Name: "driver d", Verb: verb, Driver: "d"}.Entry(node).Event()
	}
	unpublish := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	killed, started := fault("node-a", trace.Killed), fault("node-a", trace.Started)
	assert.Nil(t, Refusal([]*trace.Event{killed, unpublish}, true))
	assert.Same(t, unpublish, Refusal([]*trace.Event{unpublish, killed}, true), "it lived")
	assert.Same(t, unpublish, Refusal([]*trace.Event{killed, started, unpublish}, true), "it lives again")
	assert.Same(t, unpublish, Refusal([]*trace.Event{fault("", trace.Killed), fault("node-b", trace.Killed), unpublish}, true), "others are down")
	remove := trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/DeleteVolume", Code: "Unavailable", Message: "connection refused"}.Event()
	assert.Nil(t, Refusal([]*trace.Event{fault("", trace.Killed), remove}, true))
	both := []*trace.Event{fault("", trace.Killed), fault("node-a", trace.Started), remove}
	assert.Same(t, remove, Refusal(both, true), "one program serves the controller and the node")
	west := fault("node-a", trace.Killed)
	west.Site.Cluster = "west"
	east := trace.Entry{Kind: trace.Call, Cluster: "east", Driver: "d", Node: "node-a", Method: "Node/NodeUnpublishVolume", Code: "Unavailable"}.Event()
	assert.Same(t, east, Refusal([]*trace.Event{west, east}, true), "that of another cluster is down")
}

// Given a volume that is staged at one path, when a kubelet of another version stages it at another
// one, then the driver may refuse it. It must stage a volume that was unstaged, and a volume at the
// same path.
func TestADriverMayRefuseToStageAVolumeElsewhere(t *testing.T) {
	stage := func(path, code string) *trace.Event {
		return trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeStageVolume", Code: code, Request: &csi.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: path}}.Event()
	}
	unstage := trace.Entry{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnstageVolume", Request: &csi.NodeUnstageVolumeRequest{VolumeId: "v"}}.Event()
	other := stage("/new", "FailedPrecondition")
	assert.Nil(t, Refusal([]*trace.Event{stage("/old", ""), other}, false))
	lost := stage("/old", "Unavailable")
	lost.Injected = "driver did it, answer lost, code Unavailable"
	assert.Nil(t, Refusal([]*trace.Event{lost, other}, false), "it may be staged there")
	assert.Same(t, other, Refusal([]*trace.Event{stage("/old", ""), unstage, other}, false), "it was unstaged")
	again := stage("/old", "FailedPrecondition")
	assert.Same(t, again, Refusal([]*trace.Event{stage("/old", ""), again}, false), "it is staged there")
}

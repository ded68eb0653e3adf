package calls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// follower is a watch with its findings.
type follower struct {
	*calls.Watch
	now   time.Duration
	inUse bool
	found []string
}

func follow() *follower {
	f := &follower{Watch: calls.New()}
	found := func(_ *trace.Event, v verdict.Verdict) { f.found = append(f.found, v.String()) }
	f.OnBreach, f.OnDisorder = found, found
	f.InUse = func(string, string, string) bool { return f.inUse }
	return f
}

// call makes a call that is answered with a code or OK.
func (f *follower) call(method, node string, request, answer proto.Message, code, injected string) {
	e := trace.Entry{Kind: trace.Call, Driver: "d", Node: node, Method: method, Request: request, Response: answer, Code: code, Injected: injected, Effect: effectOf(injected), At: f.now}.Event()
	f.Began(e)
	f.Ended(e)
}

// effectOf returns the effect of a fault in words. If the fault answers, the text begins with the
// code.
func effectOf(injected string) trace.Effect {
	if strings.HasPrefix(injected, "code ") {
		return "answer"
	}
	return ""
}

func (f *follower) stage(code string) {
	f.call("Node/NodeStageVolume", "node-a", &csi.NodeStageVolumeRequest{VolumeId: "v"}, nil, code, "")
}

func (f *follower) unstage(code, injected string) {
	f.call("Node/NodeUnstageVolume", "node-a", &csi.NodeUnstageVolumeRequest{VolumeId: "v"}, nil, code, injected)
}

func (f *follower) publish(code string) {
	f.call("Node/NodePublishVolume", "node-a", &csi.NodePublishVolumeRequest{VolumeId: "v", TargetPath: "/t", StagingTargetPath: "/s"}, nil, code, "")
}

func (f *follower) detach() {
	f.call("Controller/ControllerUnpublishVolume", "", detachment, nil, "", "")
}

var detachment = &csi.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: "a"}

func (f *follower) attach(to string) {
	f.call("Controller/ControllerPublishVolume", "", &csi.ControllerPublishVolumeRequest{VolumeId: "v", NodeId: to, VolumeCapability: &csi.VolumeCapability{
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}}, nil, "", "")
}

func (f *follower) register() { f.registerAs("a") }

func (f *follower) registerAs(id string) {
	f.call("Node/NodeGetInfo", "node-a", &csi.NodeGetInfoRequest{}, &csi.NodeGetInfoResponse{NodeId: id}, "", "")
}

// promise makes the node plugin declare capabilities.
func (f *follower) promise(capabilities ...csi.NodeServiceCapability_RPC_Type) {
	answer := &csi.NodeGetCapabilitiesResponse{}
	for _, c := range capabilities {
		answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: c}}})
	}
	f.call("Node/NodeGetCapabilities", "node-a", &csi.NodeGetCapabilitiesRequest{}, answer, "", "")
}

// The kubelet names the staging path of a raw block volume to a driver that does not stage.
func TestADriverThatDoesNotStageNeedsNoStaging(t *testing.T) {
	f := follow()
	f.promise()
	f.publish("")
	assert.Empty(t, f.found)
}

// uses describes the life of a volume until it is staged and published, with the values that the
// node receives.
type uses struct {
	context, attached map[string]string // contexts of the volume, of its attachment
	block             bool
	from              string // the path from which it is published; default: the staging path
}

func (f *follower) use(u uses) {
	capability := &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}}
	f.register()
	f.call("Controller/CreateVolume", "", &csi.CreateVolumeRequest{Name: "n", VolumeCapabilities: []*csi.VolumeCapability{capability}},
		&csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "v", VolumeContext: map[string]string{"of": "v"}}}, "", "")
	f.call("Controller/ControllerPublishVolume", "", &csi.ControllerPublishVolumeRequest{VolumeId: "v", NodeId: "a", VolumeCapability: capability},
		&csi.ControllerPublishVolumeResponse{PublishContext: map[string]string{"device": "x"}}, "", "")
	if u.block {
		capability = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	}
	f.call("Node/NodeStageVolume", "node-a", &csi.NodeStageVolumeRequest{
		VolumeId: "v", StagingTargetPath: "/s", VolumeCapability: capability, VolumeContext: u.context, PublishContext: u.attached,
	}, nil, "", "")
	if u.from != "" {
		f.call("Node/NodePublishVolume", "node-a", &csi.NodePublishVolumeRequest{
			VolumeId: "v", StagingTargetPath: u.from, TargetPath: "/t", VolumeCapability: capability, VolumeContext: u.context, PublishContext: u.attached,
		}, nil, "", "")
	}
}

func TestValuesOfAnswersArePassedOn(t *testing.T) {
	context, attached := map[string]string{"of": "v"}, map[string]string{"device": "x"}
	for name, c := range map[string]struct {
		uses
		found []string
	}{
		"all of it":                   {uses{context: context, attached: attached, from: "/s"}, nil},
		"with Kubernetes' additions":  {uses{context: map[string]string{"of": "v", "csi.storage.k8s.io/pod.name": "web"}, attached: attached}, nil},
		"without the volume's":        {uses{attached: attached}, []string{"wrong request: NodeStageVolume: volume v on node node-a comes without the volume_context that CreateVolume answered"}},
		"with another attachment's":   {uses{context: context, attached: map[string]string{"device": "y"}}, []string{"wrong request: NodeStageVolume: volume v on node node-a comes without the publish_context that ControllerPublishVolume answered for the node"}},
		"as a block device":           {uses{context: context, attached: attached, block: true}, []string{"wrong request: NodeStageVolume: volume v on node node-a is asked for in the other form than CreateVolume was, block device or file system"}},
		"from where it is not staged": {uses{context: context, attached: attached, from: "/other"}, []string{"wrong request: NodePublishVolume: volume v on node node-a is published from /other, and staged at /s"}},
	} {
		f := follow()
		f.MustAttach = func(string, string) bool { return true }
		f.promise(csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME)
		f.use(c.uses)
		assert.Equal(t, c.found, f.found, name)
	}
}

func TestAVolumeIsUsedWhereItIsAttached(t *testing.T) {
	const unattached = "out of order: NodeStageVolume: volume v is staged on node node-a, where it is not attached"
	for name, c := range map[string]struct {
		calls func(*follower)
		found []string
	}{
		"attached":  {func(f *follower) { f.attach("a"); f.stage("") }, nil},
		"never":     {func(f *follower) { f.stage("") }, []string{unattached}},
		"elsewhere": {func(f *follower) { f.attach("b"); f.stage("") }, []string{unattached}},
		"detached":  {func(f *follower) { f.attach("a"); f.detach(); f.stage("") }, []string{unattached}},
		"the answer was lost": {func(f *follower) {
			f.call("Controller/ControllerPublishVolume", "", &csi.ControllerPublishVolumeRequest{VolumeId: "v", NodeId: "a"}, nil, "Unavailable", "answer lost")
			f.stage("")
		}, []string{unattached}},
		"under another id": {func(f *follower) { f.attach("a"); f.registerAs("b"); f.stage("") }, nil},
		"detachment is not certain": {func(f *follower) {
			f.attach("a")
			f.call("Controller/ControllerUnpublishVolume", "", detachment, nil, "Internal", "")
			f.stage("")
		}, nil},
		"Kubernetes does not do that": {func(f *follower) { f.MustAttach = func(string, string) bool { return false }; f.stage("") }, nil},
	} {
		f := follow()
		f.MustAttach = func(string, string) bool { return true }
		f.register()
		c.calls(f)
		assert.Equal(t, c.found, f.found, name)
	}
}

func TestTheOrderOfCallsIsCheckedWhereItIsCertain(t *testing.T) {
	for name, c := range map[string]struct {
		calls func(*follower)
		found []string
	}{
		"a life":                      {func(f *follower) { f.stage(""); f.publish("") }, nil},
		"published and never staged":  {func(f *follower) { f.publish("") }, []string{"out of order: NodePublishVolume: volume v is published on node node-a, where it is not staged"}},
		"staging that failed":         {func(f *follower) { f.stage("Internal"); f.publish("") }, nil},
		"unstaged while published":    {func(f *follower) { f.stage(""); f.publish(""); f.unstage("", "") }, []string{"out of order: NodeUnstageVolume: volume v is unstaged on node node-a, where it is published"}},
		"published after unstaging":   {func(f *follower) { f.stage(""); f.unstage("", ""); f.publish("") }, []string{"out of order: NodePublishVolume: volume v is published on node node-a, where it is not staged"}},
		"detached while staged":       {func(f *follower) { f.register(); f.stage(""); f.detach() }, []string{"out of order: ControllerUnpublishVolume: volume v is detached from node node-a, where it is staged"}},
		"detached by force":           {func(f *follower) { f.inUse = true; f.register(); f.stage(""); f.detach() }, nil},
		"detached after a reboot":     {func(f *follower) { f.register(); f.stage(""); f.KubeletStarted("node-a"); f.detach() }, nil},
		"detached, unstage uncertain": {func(f *follower) { f.register(); f.stage(""); f.unstage("Internal", ""); f.detach() }, nil},
		"detached, unstage unseen":    {func(f *follower) { f.register(); f.stage(""); f.unstage("Internal", "code Internal"); f.detach() }, []string{"out of order: ControllerUnpublishVolume: volume v is detached from node node-a, where it is staged"}},
		"attached twice":              {func(f *follower) { f.attach("a"); f.attach("b") }, []string{"ControllerPublishVolume attaches a volume of one node to two: volume v is attached to node b and was not detached from node a"}},
		"attached again":              {func(f *follower) { f.attach("a"); f.detach(); f.attach("b"); f.attach("b") }, nil},
		"attached, a detachment under way": {func(f *follower) {
			f.attach("a")
			f.Began(trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/ControllerUnpublishVolume", Request: detachment}.Event())
			f.call("Controller/ControllerUnpublishVolume", "", detachment, nil, "Unavailable", "code Unavailable")
			f.attach("b")
		}, nil},
		"attached under another id": {func(f *follower) { f.register(); f.attach("a"); f.registerAs("b"); f.attach("b") }, nil},
		"a lock that stays":         {func(f *follower) { f.stage("Aborted"); f.now = time.Minute; f.stage("Aborted") }, []string{"NodeStageVolume is answered with ABORTED though no call is under way: volume v is locked still"}},
		"a lock that clears":        {func(f *follower) { f.stage("Aborted"); f.stage(""); f.now = time.Minute; f.stage("Aborted") }, nil},
		"a lock of a call unanswered": {func(f *follower) {
			f.stage("DeadlineExceeded")
			f.stage("Aborted")
			f.now = time.Minute
			f.stage("Aborted")
		}, nil},
	} {
		f := follow()
		f.promise(csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME)
		c.calls(f)
		assert.Equal(t, c.found, f.found, name)
	}
}

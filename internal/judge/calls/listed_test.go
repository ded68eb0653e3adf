package calls_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

// promises makes the driver promise to list the nodes to which volumes are attached.
func (f *follower) promises(types ...csi.ControllerServiceCapability_RPC_Type) {
	answer := &csi.ControllerGetCapabilitiesResponse{}
	for _, t := range types {
		rpc := &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: t}}
		answer.Capabilities = append(answer.Capabilities, &csi.ControllerServiceCapability{Type: rpc})
	}
	f.call("Controller/ControllerGetCapabilities", "", &csi.ControllerGetCapabilitiesRequest{}, answer, "", "")
}

func (f *follower) promisesNodes() {
	f.promises(csi.ControllerServiceCapability_RPC_LIST_VOLUMES, csi.ControllerServiceCapability_RPC_LIST_VOLUMES_PUBLISHED_NODES)
}

func listOf(nodes ...string) *csi.ListVolumesResponse {
	return &csi.ListVolumesResponse{Entries: []*csi.ListVolumesResponse_Entry{{
		Volume: &csi.Volume{VolumeId: "v"}, Status: &csi.ListVolumesResponse_VolumeStatus{PublishedNodeIds: nodes},
	}}}
}

func (f *follower) list(nodes ...string) {
	f.call("Controller/ListVolumes", "", &csi.ListVolumesRequest{}, listOf(nodes...), "", "")
}

// listNothing lists no volumes on the first page.
func (f *follower) listNothing(next string) {
	f.call("Controller/ListVolumes", "", &csi.ListVolumesRequest{}, &csi.ListVolumesResponse{NextToken: next}, "", "")
}

// make makes the driver create the volume.
func (f *follower) make() {
	f.call("Controller/CreateVolume", "", &csi.CreateVolumeRequest{}, &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "v"}}, "", "")
}

// attachShared attaches a volume that may be attached to several nodes.
func (f *follower) attachShared(to, code, injected string) {
	f.call("Controller/ControllerPublishVolume", "", &csi.ControllerPublishVolumeRequest{VolumeId: "v", NodeId: to}, nil, code, injected)
}

func TestAListHasTheNodesToWhichAVolumeIsAttached(t *testing.T) {
	leftOut := func(node string) []string {
		return []string{"ListVolumes leaves out a node: volume v is attached to node " + node + ", from which it was not detached"}
	}
	for name, c := range map[string]struct {
		calls func(*follower)
		found []string
	}{
		"listed":                        {func(f *follower) { f.promisesNodes(); f.attach("a"); f.list("a") }, nil},
		"left out, and named once":      {func(f *follower) { f.promisesNodes(); f.attach("a"); f.list(); f.list() }, leftOut("a")},
		"left out, nothing is promised": {func(f *follower) { f.attach("a"); f.list() }, nil},
		"left out, volumes are listed without nodes": {func(f *follower) {
			f.promises(csi.ControllerServiceCapability_RPC_LIST_VOLUMES)
			f.attach("a")
			f.list()
		}, nil},
		"one node more":          {func(f *follower) { f.promisesNodes(); f.attach("a"); f.list("a", "b") }, nil},
		"detached":               {func(f *follower) { f.promisesNodes(); f.attach("a"); f.detach(); f.list() }, nil},
		"detached at the driver": {func(f *follower) { f.promisesNodes(); f.attach("a"); f.Detached("d", "v", "a"); f.list() }, nil},
		"detached from all nodes": {func(f *follower) {
			f.promisesNodes()
			f.attachShared("a", "", "")
			f.attachShared("b", "", "")
			f.detach()
			f.list()
		}, leftOut("b")},
		"not attached by the driver itself": {func(f *follower) { f.promisesNodes(); f.attachShared("a", "", "answer"); f.list() }, nil},
		"an attachment that failed":         {func(f *follower) { f.promisesNodes(); f.attachShared("a", "Internal", ""); f.list() }, nil},
		"attached again, the end of a detachment unheard": {func(f *follower) {
			f.promisesNodes()
			f.attach("a")
			f.Began(trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/ControllerUnpublishVolume", Request: detachment}.Event())
			f.attach("a")
			f.list()
		}, nil},
		"attached while the list is made": {func(f *follower) {
			f.promisesNodes()
			list := trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/ListVolumes", Request: &csi.ListVolumesRequest{}, Response: listOf()}.Event()
			f.Began(list)
			f.attach("a")
			f.Ended(list)
		}, nil},
		"a volume that the driver has made, not listed at all": {func(f *follower) {
			f.promisesNodes()
			f.make()
			f.attach("a")
			f.listNothing("")
		}, leftOut("a")},
		"on one of the next pages": {func(f *follower) {
			f.promisesNodes()
			f.make()
			f.attach("a")
			f.listNothing("1")
		}, nil},
		"a volume of another id, not listed at all": {func(f *follower) { f.promisesNodes(); f.attach("a"); f.listNothing("") }, nil},
		"deleted, the end unheard": {func(f *follower) {
			f.promisesNodes()
			f.make()
			f.attach("a")
			f.Began(trace.Entry{Kind: trace.Call, Driver: "d", Method: "Controller/DeleteVolume", Request: &csi.DeleteVolumeRequest{VolumeId: "v"}}.Event())
			f.listNothing("")
		}, []string{"out of order: DeleteVolume: volume v is deleted while it is attached"}},
		"a later page, which may be as old as the first one": {func(f *follower) {
			f.promisesNodes()
			f.attach("a")
			f.call("Controller/ListVolumes", "", &csi.ListVolumesRequest{StartingToken: "1"}, listOf(), "", "")
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow()
			c.calls(f)
			assert.Equal(t, c.found, f.found)
		})
	}
}

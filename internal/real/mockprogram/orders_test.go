package mockprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/real/proxy"
)

// cluster is a backend with a controller plugin and the plugin of a node.
type cluster struct {
	t          *testing.T
	backend    *Backend
	controller csi.ControllerClient
	node       csi.NodeClient
	dir        string
}

const token = "secret"

func free(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

func newCluster(t *testing.T, o mock.Options) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), backend: &Backend{Options: o, Address: free(t), Orders: free(t), Token: token}}
	c.serve(c.backend.Serve)
	c.serve(Controller{Socket: c.dir + "/controller.sock", Backend: c.backend.Address, Token: token}.Serve)
	c.startNode("node.sock")
	c.controller = csi.NewControllerClient(c.dial("controller.sock"))
	return c
}

// startNode starts the plugin of the node, at another address after the first time.
func (c *cluster) startNode(socket string) {
	n := &Node{ID: "node-a", Zone: "zone-1", Socket: c.dir + "/" + socket, Backend: c.backend.Address, Host: "127.0.0.1", Token: token, Volumes: c.dir}
	c.serve(n.Serve)
	c.node = csi.NewNodeClient(c.dial(socket))
}

func (c *cluster) serve(serve func(context.Context) error) {
	ctx, end := context.WithCancel(c.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	c.t.Cleanup(func() {
		end()
		<-ended
	})
}

func (c *cluster) dial(socket string) *grpc.ClientConn {
	conn, err := grpc.NewClient("unix://"+c.dir+"/"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func (c *cluster) info() *csi.NodeGetInfoResponse {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	info, err := c.node.NodeGetInfo(ctx, &csi.NodeGetInfoRequest{}, grpc.WaitForReady(true))
	require.NoError(c.t, err)
	return info
}

// order sends an order, and returns the status of the answer.
func (c *cluster) order(bearing, path string, o any) int {
	c.t.Helper()
	text, err := json.Marshal(o)
	require.NoError(c.t, err)
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://"+c.backend.Orders+path, bytes.NewReader(text))
	require.NoError(c.t, err)
	request.Header.Set(proxy.TokenHeader, bearing)
	response, err := http.DefaultClient.Do(request)
	require.NoError(c.t, err)
	_ = response.Body.Close()
	return response.StatusCode
}

// The information of a node changes unnoticed by Kubernetes. The change persists when its plugin
// restarts with its original arguments.
func TestChangedNodeInformationOutlivesThePlugin(t *testing.T) {
	c := newCluster(t, mock.Options{Topology: true})
	first := c.info()
	assert.Equal(t, "node-a", first.NodeId)

	renamed, limit := "node-a-renamed", int64(3)
	assert.Equal(t, http.StatusForbidden, c.order("wrong", ChangeNodePath, ChangeNode{Node: "node-a", Info: mock.NodeInfo{NodeID: &renamed}}))
	assert.Equal(t, "node-a", c.info().NodeId)

	elsewhere := map[string]string{"zone": "zone-2"}
	require.Equal(t, http.StatusOK, c.order(token, ChangeNodePath, ChangeNode{Node: "node-a", Info: mock.NodeInfo{NodeID: &renamed, Topology: elsewhere, MaxVolumes: &limit}}))
	says := func() {
		t.Helper()
		now := c.info()
		assert.Equal(t, renamed, now.NodeId)
		assert.Equal(t, elsewhere, now.AccessibleTopology.Segments)
		assert.Equal(t, limit, now.MaxVolumesPerNode)
	}
	says()
	c.startNode("again.sock")
	says()

	more := int64(4)
	require.Equal(t, http.StatusOK, c.order(token, ChangeNodePath, ChangeNode{Node: "node-a", Info: mock.NodeInfo{MaxVolumes: &more}}))
	limit = more
	says()
	assert.Equal(t, http.StatusUnprocessableEntity, c.order(token, ChangeNodePath, ChangeNode{Node: "node-z"}))
}

// The storage system itself detaches a volume, and makes it abnormal.
func TestVolumesAreChangedAtTheStorageSystem(t *testing.T) {
	c := newCluster(t, mock.Options{ListVolumes: true, ListVolumesPublishedNodes: true, VolumeHealth: true})
	c.info() // the node is known
	ctx := t.Context()
	single := &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER}, AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}}
	made, err := c.controller.CreateVolume(ctx, &csi.CreateVolumeRequest{Name: "v", VolumeCapabilities: []*csi.VolumeCapability{single}}, grpc.WaitForReady(true))
	require.NoError(t, err)
	handle := made.Volume.VolumeId
	_, err = c.controller.ControllerPublishVolume(ctx, &csi.ControllerPublishVolumeRequest{VolumeId: handle, NodeId: "node-a", VolumeCapability: single, VolumeContext: made.Volume.VolumeContext})
	require.NoError(t, err)
	listed := func() *csi.ListVolumesResponse_VolumeStatus {
		all, err := c.controller.ListVolumes(ctx, &csi.ListVolumesRequest{})
		require.NoError(t, err)
		require.Len(t, all.Entries, 1)
		return all.Entries[0].Status
	}
	assert.Equal(t, []string{"node-a"}, listed().PublishedNodeIds)

	require.Equal(t, http.StatusOK, c.order(token, DetachPath, Detach{Volume: handle, Node: "node-a"}))
	assert.Empty(t, listed().PublishedNodeIds)

	health := func() []*csi.VolumeHealth_VolumeHealthEntry {
		answer, err := c.controller.ControllerGetVolumeHealth(ctx, &csi.ControllerGetVolumeHealthRequest{VolumeId: handle})
		require.NoError(t, err)
		return answer.VolumeHealth.HealthStatuses
	}
	require.Equal(t, http.StatusOK, c.order(token, SetConditionPath, SetCondition{Volume: handle, Message: "on fire"}))
	require.Len(t, health(), 1)
	assert.Equal(t, "on fire", health()[0].Message)
	require.Equal(t, http.StatusOK, c.order(token, SetConditionPath, SetCondition{Volume: handle}))
	assert.Empty(t, health())
	assert.Equal(t, http.StatusUnprocessableEntity, c.order(token, SetConditionPath, SetCondition{Volume: "none", Message: "x"}))
}

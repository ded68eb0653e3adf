package sim_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

func TestANodeHasItsGivenOptions(t *testing.T) {
	c := sim.New(t, withMock, sim.WithNode(sim.Node{Name: "big", Zone: "z1", Labels: map[string]string{"disk": "ssd"}, MaxPods: 3}))
	node, err := c.Client().CoreV1().Nodes().Get(t.Context(), "big", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "ssd", node.Labels["disk"])
	assert.Equal(t, "z1", node.Labels["topology.kubernetes.io/zone"])
	assert.EqualValues(t, 3, node.Status.Allocatable.Pods().Value())
	assert.Equal(t, []string{"big"}, c.Nodes())
}

func TestAClusterWithoutBootIsAtItsFirstInstant(t *testing.T) {
	c := sim.New(t, withMock, sim.WithoutBoot())
	c.ExpectNoCalls("*")
	c.Until(expect.Object{Ref: "csinode/node-a"}, expect.Calls{Patterns: []expect.Call{{Call: "NodeGetInfo"}}})
}

// breach runs a driver that answers CreateVolume without an id.
func breach(t sim.T, allowed ...string) {
	c := sim.New(t, sim.WithMock(mock.Options{Name: driver, Faulty: []string{"create-returns-no-id"}}))
	c.AllowLeftovers("volume *") // a volume without an id cannot be deleted
	c.AllowViolations(allowed...)
	c.Apply(storage)
	c.Advance(time.Minute)
	c.Delete("pvc/web")
}

func TestABreachOfTheSpecFailsATestUnlessItIsAllowed(t *testing.T) {
	assert.Contains(t, failing(t, func(f *testOf) { breach(f) }), "volume.volume_id")
	breach(t, "*")
}

// serve serves a driver that csisim does not start.
func serve(t *testing.T, socket string) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	d := mock.New(mock.Options{Name: driver})
	server := grpc.NewServer()
	node := d.Node(mock.NodeOptions{NodeID: "host"})
	csi.RegisterIdentityServer(server, node)
	csi.RegisterNodeServer(server, node)
	csi.RegisterControllerServer(server, d.Controller())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

func TestADriverThatRunsAlreadyIsFoundByItsSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "csi.sock")
	serve(t, socket)
	c := sim.New(t, sim.WithEndpoint(socket, socket), sim.WithNodes("node-a"), sim.WithPatience(5*time.Second))
	node, err := c.Client().StorageV1().CSINodes().Get(t.Context(), "node-a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, node.Spec.Drivers, 1)
	assert.Equal(t, driver, node.Spec.Drivers[0].Name)
	assert.Equal(t, "host", node.Spec.Drivers[0].NodeID)
}

package pluginmanager_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// newDisk returns a node on disk with a path short enough for sockets.
func newDisk(t *testing.T) *machine.Disk {
	dir, err := os.MkdirTemp("", "reg")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	d, err := machine.NewDisk(nodeName, filepath.Join(dir, "n"))
	require.NoError(t, err)
	return d
}

// The whole registration uses real sockets: driver, registrar, watcher, handshake, CSINode.
func TestRegistrationOverRealSockets(t *testing.T) {
	w := worldOn(t, newDisk(t), kernel.Calm{})
	d := mock.New(mock.Options{Name: regDriver, Topology: true, TopologyKey: zone, MaxVolumesPerNode: 7}).
		Node(mock.NodeOptions{NodeID: nodeName})
	l := w.bind(endpoint, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: d}, machine.Service{Desc: &csi.Node_ServiceDesc, Server: d})
	before := w.Trace.Last()
	r := w.startRegistrar(endpoint)
	w.quiet()

	assert.True(t, r.Registered())
	limit := int32(7)
	assert.Equal(t, []storagev1.CSINodeDriver{{
		Name: regDriver, NodeID: nodeName, TopologyKeys: []string{zone}, Allocatable: &storagev1.VolumeNodeResources{Count: &limit},
	}}, w.entries())
	assert.Equal(t, []string{
		"1s registrar Identity/GetPluginInfo",
		"2s kubelet Registration/GetInfo",
		"2s kubelet Node/NodeGetInfo",
		"2s MODIFIED nodes",
		"2s MODIFIED csinodes",
		"2s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before))

	r.Kill() // golden fact 19
	w.quiet()
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
	r.Start()
	w.quiet()
	assert.Len(t, w.times("Node/NodeGetInfo"), 2)
	assert.True(t, r.Registered())

	require.NoError(t, r.Stop()) // golden fact 16
	w.quiet()
	assert.Empty(t, w.entries())
	require.NoError(t, l.Close())
}

// Golden fact 18 with its supervisor: the registrar is refused, exits, is restarted and accepted. A
// driver that answers with an error without a code answers Unknown.
//
// conformance: unit-get-info-error
func TestARefusedRegistrarIsRestartedOverRealSockets(t *testing.T) {
	w := worldOn(t, newDisk(t), kernel.Calm{})
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 2, Effect: fault.Answer, Code: codes.Unknown})
	r := registrar.New(w.World, w.wire, registrar.Options{Node: nodeName, Machine: w.machine, Endpoint: endpoint})
	r.Start()
	require.Equal(t, kernel.Done, w.Kernel.Run(kernel.Until{Cond: r.Registered, At: time.Minute}))
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
	require.NoError(t, r.Stop())
	w.quiet()
}

func TestADeadSocketOnDiskKeepsNoRunBusy(t *testing.T) {
	w := worldOn(t, newDisk(t), kernel.Calm{})
	w.servePlugin(regSocket, "1.0.0").Abandon()
	w.quiet()
	w.until(30 * time.Second)
	assert.Equal(t, "DeadlineExceeded", w.calls("Registration/GetInfo")[0].Code)
}

package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const driver = "mock.csi.csisim.dev"

// cluster returns a booted cluster with the mock driver and a storage class.
func cluster(t *testing.T, o sim.Options) *sim.Simulation {
	t.Helper()
	if o.Drivers == nil {
		o.Drivers = []sim.Driver{{Name: driver, Mock: &mock.Options{}}}
	}
	c, err := sim.Start(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Boot())
	_, err = c.Apply(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: driver})
	require.NoError(t, err)
	return c
}

// run starts a pod with its own claim on a node.
func run(t *testing.T, c *sim.Simulation, name, node string) {
	t.Helper()
	for _, obj := range []store.Object{claim(name), pod(name, node)} {
		_, err := c.Apply(obj)
		require.NoError(t, err)
	}
	require.NoError(t, c.WaitFor("pod Running", 10*time.Minute, func() bool { return phase(c, name) == corev1.PodRunning }))
}

func phase(c *sim.Simulation, name string) corev1.PodPhase {
	p, ok := store.Get[*corev1.Pod](c.World.Store, store.Key{Namespace: "default", Name: name})
	if !ok {
		return "gone"
	}
	return p.Status.Phase
}

func erase(t *testing.T, c *sim.Simulation, resource, name string) {
	t.Helper()
	res, ok := store.ResourceNamed(resource)
	require.True(t, ok)
	require.NoError(t, c.Delete(res, store.Key{Namespace: "default", Name: name}))
}

// calls returns the CSI calls so far, without requests for capabilities.
func calls(c *sim.Simulation, from int) []string {
	var all []string
	for _, e := range c.World.Trace.Events()[from:] {
		switch e.Method {
		case "Node/NodeGetCapabilities", "Controller/ControllerGetCapabilities", "Identity/GetPluginCapabilities", "Identity/Probe":
			continue
		}
		if e.Kind == trace.Call {
			line := e.Method
			if e.Code != "" {
				line += " " + e.Code
			}
			all = append(all, line)
		}
	}
	return all
}

func TestAVolumePassesThroughItsWholeLife(t *testing.T) { // facts 1 and 2
	c := cluster(t, sim.Options{})
	from := len(c.World.Trace.Events())
	run(t, c, "web", "node-a")
	erase(t, c, "pods", "web")
	require.NoError(t, c.Settle(10*time.Minute))
	erase(t, c, "persistentvolumeclaims", "web")
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Equal(t, []string{
		"Controller/CreateVolume", "Controller/ControllerPublishVolume", "Node/NodeStageVolume", "Node/NodePublishVolume",
		"Node/NodeUnpublishVolume", "Node/NodeUnstageVolume", "Controller/ControllerUnpublishVolume", "Controller/DeleteVolume",
	}, calls(c, from))
	assert.Empty(t, c.Leftovers())
	assert.Empty(t, c.Wire.Violations())
}

func TestTheSameSeedIsTheSameRun(t *testing.T) {
	life := func(seed uint64, r *kernel.Recorder) (uint64, error) {
		c, err := sim.Start(sim.Options{Strategy: kernel.NewRandom(seed), Recorder: r, Drivers: []sim.Driver{{Name: driver, Mock: &mock.Options{}}}})
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.Boot())
		_, err = c.Apply(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: driver})
		require.NoError(t, err)
		for _, name := range []string{"a", "b"} {
			_, err = c.Apply(claim(name))
			require.NoError(t, err)
			_, err = c.Apply(pod(name, "node-a"))
			require.NoError(t, err)
		}
		require.NoError(t, c.Settle(time.Hour))
		for _, name := range []string{"a", "b"} {
			erase(t, c, "pods", name)
			erase(t, c, "persistentvolumeclaims", name)
		}
		require.NoError(t, c.Settle(time.Hour))
		assert.Empty(t, c.Leftovers(), "seed %d", seed)
		return c.World.Kernel.Hash(), c.World.Kernel.Err()
	}
	hashes := map[uint64]bool{}
	for seed := range uint64(10) {
		first := &kernel.Recorder{}
		hash, err := life(seed, first)
		require.NoError(t, err)
		again := first.Against()
		repeated, err := life(seed, again)
		require.NoError(t, err)
		require.NoError(t, again.Err())
		assert.Equal(t, hash, repeated)
		hashes[hash] = true
	}
	assert.Len(t, hashes, 10, "each seed is a run of its own")
}

func TestAFailedWaitListsTheWaitsOfComponents(t *testing.T) {
	c := cluster(t, sim.Options{})
	lonely := pod("lonely", "node-a")
	_, err := c.Apply(lonely) // its claim does not exist
	require.NoError(t, err)
	err = c.WaitFor("pod lonely Running", time.Hour, func() bool { return phase(c, "lonely") == corev1.PodRunning })
	var stuck *sim.StuckError
	require.ErrorAs(t, err, &stuck)
	assert.ErrorContains(t, err, "pod lonely Running")
	assert.NotEmpty(t, stuck.Waiting)
}

func TestInterruptEndsTheCurrentOperation(t *testing.T) {
	c := cluster(t, sim.Options{})
	wanted := errors.New("enough")
	c.Interrupt(wanted)
	assert.ErrorIs(t, c.Advance(time.Hour), wanted)
}

func TestApplyIsThreeWay(t *testing.T) {
	c := cluster(t, sim.Options{})
	class := func(labels map[string]string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "slow", Labels: labels}, Provisioner: driver}
	}
	verb := func(obj store.Object) string {
		v, err := c.Apply(obj)
		require.NoError(t, err)
		return v
	}
	assert.Equal(t, "created", verb(class(map[string]string{"a": "1", "b": "2"})))
	_, err := store.Modify(c.World.Store, store.Key{Name: "slow"}, func(s *storagev1.StorageClass) { s.Labels["other"] = "kept" })
	require.NoError(t, err)
	assert.Equal(t, "configured", verb(class(map[string]string{"a": "1"})))
	stored, _ := store.Get[*storagev1.StorageClass](c.World.Store, store.Key{Name: "slow"})
	assert.Equal(t, map[string]string{"a": "1", "other": "kept"}, stored.Labels)
	assert.Equal(t, "unchanged", verb(class(map[string]string{"a": "1"})))

	smaller := claim("data")
	assert.Equal(t, "created", verb(smaller))
	require.NoError(t, c.Settle(time.Minute))
	assert.Equal(t, "unchanged", verb(smaller), "fields set by controllers are left alone")
	forbidden := claim("data")
	forbidden.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1Ki")
	_, err = c.Apply(forbidden)
	assert.ErrorContains(t, err, "spec.resources.requests.storage")
}

func TestAKubeletRestartRepublishesAndUnmountsUnusedVolumes(t *testing.T) { // fact 21
	c := cluster(t, sim.Options{})
	run(t, c, "stays", "node-a")
	run(t, c, "goes", "node-a")
	require.NoError(t, c.Kill(sim.Kubelet("node-a")))
	res, _ := store.ResourceNamed("pods")
	require.NoError(t, c.Delete(res, store.Key{Namespace: "default", Name: "goes"}, store.GracePeriod(0)))
	require.NoError(t, c.Advance(2*time.Second))
	from := len(c.World.Trace.Events())
	require.NoError(t, c.Start(sim.Kubelet("node-a")))
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Subset(t, calls(c, from), []string{
		"Node/NodeGetInfo", "Node/NodeStageVolume", "Node/NodePublishVolume",
		"Node/NodeUnpublishVolume", "Node/NodeUnstageVolume", "Controller/ControllerUnpublishVolume",
	})
	assert.Equal(t, corev1.PodRunning, phase(c, "stays"))
	erase(t, c, "persistentvolumeclaims", "goes")
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Empty(t, c.Leftovers())
}

func TestPowerLossRemovesTheMountsAndARestartRestoresThem(t *testing.T) { // fact 73
	c := cluster(t, sim.Options{})
	run(t, c, "web", "node-a")
	require.NoError(t, c.PowerOff("node-a"))
	require.NoError(t, c.Advance(time.Minute))
	node, _ := store.Get[*corev1.Node](c.World.Store, store.Key{Name: "node-a"})
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			assert.Equal(t, corev1.ConditionUnknown, condition.Status, "fact 35: NotReady after 50 to 55 s")
		}
	}
	from := len(c.World.Trace.Events())
	require.NoError(t, c.PowerOn("node-a"))
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Subset(t, calls(c, from), []string{"Node/NodeStageVolume", "Node/NodePublishVolume"})
	assert.NotContains(t, calls(c, from), "Controller/ControllerUnpublishVolume")
}

func TestMistakesInTheOptionsAreReportedBeforeAnythingStarts(t *testing.T) {
	one := func(d sim.Driver) sim.Options { return sim.Options{Drivers: []sim.Driver{d}} }
	for _, c := range []struct {
		name    string
		options sim.Options
		want    string
	}{
		{"two nodes with one name", sim.Options{Nodes: []sim.Node{{Name: "a"}, {Name: "a"}}}, `node "a": two nodes have this name`},
		{"a bad node name", sim.Options{Nodes: []sim.Node{{Name: "Node_A"}}}, `node "Node_A": its name is not a DNS subdomain`},
		{"a driver that is nothing", one(sim.Driver{Name: "d"}), `driver "d": 0 of mock, program, socket and servers are given`},
		{"two drivers with one name", sim.Options{Drivers: []sim.Driver{{Name: "d", Mock: &mock.Options{}}, {Name: "d", Mock: &mock.Options{}}}}, "two drivers have this name"},
		{"an empty command", one(sim.Driver{Name: "d", Program: &sim.Program{}}), "the program's command is empty"},
		{"a node id for no node", one(sim.Driver{Name: "d", Mock: &mock.Options{}, NodeIDs: map[string]string{"x": "y"}}), `nodeIDs names node "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.Start(c.options)
			var config *sim.ConfigError
			require.ErrorAs(t, err, &config)
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestTheErrorForAMissingNameListsTheExistingOnes(t *testing.T) {
	c := cluster(t, sim.Options{})
	assert.ErrorContains(t, c.Kill(sim.Kubelet("node-x")), "there are [node-a node-b]")
	assert.ErrorContains(t, c.Kill(sim.Plugin{Driver: "x"}), "there are ["+driver+"]")
	assert.ErrorContains(t, c.Kill(sim.Controller("x")), "kube-controller-manager")
	assert.ErrorContains(t, c.Start(sim.Kubelet("node-a")), "it runs already")
	assert.ErrorContains(t, c.PowerOn("node-a"), "it has power")
	assert.ErrorContains(t, c.Stop(sim.PluginRegistrar{Driver: driver}), "only a node's plugin has a registrar")
}

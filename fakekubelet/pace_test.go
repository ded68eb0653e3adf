package fakekubelet_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// K-RPC-4: a step has two minutes. They begin with the step's first request for the driver's
// capabilities, so a slow answer shortens the time for the following call.
func TestTheDeadlineOfAStep(t *testing.T) {
	all := mock.Options{NodeExpand: true, Stats: true}
	unstaged := all
	unstaged.Stage = new(false)
	for _, c := range []struct {
		name, method string
		block        bool
		driver       mock.Options
		probes       int         // requests for capabilities since the fault, before the step
		begin        func(*node) // starts the step when the pod runs; nil: the pod starts it
		undivided    bool        // the step makes no request for capabilities first
	}{
		{name: "MountDevice", method: "NodeStageVolume", driver: all},
		{name: "SetUp", method: "NodePublishVolume", driver: all, probes: 3},
		{name: "SetUp without MountDevice", method: "NodePublishVolume", driver: unstaged, probes: 1},
		{name: "TearDown", method: "NodeUnpublishVolume", driver: all, begin: deletion, undivided: true},
		{name: "UnmountDevice", method: "NodeUnstageVolume", driver: all, begin: deletion},
		{name: "SetUpDevice", method: "NodeStageVolume", block: true, driver: all},
		{name: "MapPodDevice", method: "NodePublishVolume", block: true, driver: all, probes: 2},
		{name: "UnmapPodDevice", method: "NodeUnpublishVolume", block: true, driver: all, begin: deletion, undivided: true},
		{name: "TearDownDevice", method: "NodeUnstageVolume", block: true, driver: all, begin: deletion},
		{name: "NodeExpand", method: "NodeExpandVolume", driver: all, begin: func(n *node) { n.resized("data", "2Gi", "2Gi", pending) }},
		{name: "GetMetrics", method: "NodeGetVolumeStats", driver: all, begin: func(n *node) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := setting{driver: c.driver}
			if c.method == "NodeGetVolumeStats" {
				s.statsPeriod = time.Minute
			}
			n := start(t, s)
			use := using
			if c.block {
				n.volume("data", block)
				use = usingDevice
			} else {
				n.volume("data")
			}
			slow := func() {
				n.wire.Faults.Inject(&fault.Fault{Name: "slow", Call: "NodeGetCapabilities", After: c.probes, Effect: fault.HoldAnswer, Delay: 100 * time.Second, Times: 1})
				n.wire.Faults.Inject(&fault.Fault{Name: "silent", Call: c.method, Effect: fault.Hang, Times: 1})
			}
			if c.begin == nil {
				slow()
				n.pod("web", use("data"))
			} else {
				n.pod("web", use("data"))
				n.run("web")
				slow()
				c.begin(n)
			}
			n.pass(6 * time.Minute)
			took := time.Duration(0)
			for _, e := range n.Trace.Events() {
				if e.Kind == trace.Call && path.Base(e.Method) == c.method && e.Code == "DeadlineExceeded" {
					took = e.Took
				}
			}
			if c.undivided {
				assert.Equal(t, 2*time.Minute, took)
			} else {
				assert.Equal(t, 20*time.Second, took)
			}
		})
	}
}

func deletion(n *node) { n.deletePod("web") }

// K-CFG-3: the default pace of the kubelet: ten seconds for changes of the node's status, five
// minutes without changes, a minute for pods and for the usage of volumes.
func TestThePaceOfAKubelet(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Stats: true}, csiDriver: all(attachRequired, republish)})
	n.killKubelet()
	n.kubelet = fakekubelet.Start(n.World, fakekubelet.Options{Name: nodeName, Machine: n.machine, Runtime: n.runtime, Wire: n.wire})
	n.until(func() bool { return len(n.kubelet.Registered()) > 0 })
	began := n.Kernel.Elapsed()
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	assert.InDelta(t, 10, (n.since.At - began).Seconds(), 1.2, "volumesInUse is written at the next round")
	n.pass(16 * time.Minute)
	var reports []time.Duration
	for _, e := range n.news() {
		if e.Kind == trace.API && e.Resource == "nodes" {
			reports = append(reports, e.At)
		}
	}
	require.GreaterOrEqual(t, len(reports), 2)
	assert.Equal(t, 5*time.Minute, reports[1]-reports[0])
	for _, gap := range n.gaps("NodePublishVolume") {
		assert.InDelta(t, 60, gap, 0.5, "a pod's regular sync")
	}
	for _, gap := range n.gaps("NodeGetVolumeStats") {
		assert.InDelta(t, 60, gap, 0.1)
	}
	assert.Equal(t, "true", n.node().Annotations["volumes.kubernetes.io/controller-managed-attach-detach"])
}

// K-RACE-39: the API reports a volume in use up to ten seconds late, both when the pod is created
// and when it is deleted. The first delay holds back the pod, the second one only the detach.
func TestVolumesInUseLagBehind(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pass(10 * time.Second)
	n.pod("web", using("data"))
	n.pass(8900 * time.Millisecond)
	assert.Empty(t, n.inUse())
	assert.Empty(t, n.calls())
	n.pass(600 * time.Millisecond)
	assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	n.pass(1600 * time.Millisecond)
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnstageVolume")) == 1 })
	n.pass(7 * time.Second)
	assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse(), "never too early")
	n.until(func() bool { return len(n.inUse()) == 0 })
	assert.Equal(t, 30*time.Second+firstStatus, n.Kernel.Elapsed())
}

// K-PATH-1: the directories that a kubelet makes at its start; their parent exists on the machine.
func TestTheKubeletsDirectories(t *testing.T) {
	m := machine.NewMemory(nodeName)
	defer m.Close()
	fakekubelet.MakeDirectories(m)
	for _, dir := range []string{"/pods", "/plugins", "/plugins_registry"} {
		info, err := m.Lstat(machine.KubeletDir + dir)
		require.NoError(t, err)
		assert.Equal(t, "drwxr-x---", info.Mode().String(), dir)
	}
	require.NoError(t, m.Chmod(machine.KubeletDir+"/pods", 0o700))
	fakekubelet.MakeDirectories(m)
	info, err := m.Lstat(machine.KubeletDir + "/pods")
	require.NoError(t, err)
	assert.Equal(t, "drwx------", info.Mode().String(), "an existing directory stays unchanged")
}

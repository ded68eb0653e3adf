package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	_ "github.com/csisim/csisim/sim/kind"
)

// The tests named TestInBothWorlds are tests of a driver. They run as simulations here, and
// TestGoTestsOnARealCluster runs them on the test bed.

func inBothWorlds(t *testing.T, options ...sim.Option) *sim.Cluster {
	t.Helper()
	c := sim.New(t, append(options, sim.WithMock(mock.Options{Name: bedDriver}))...)
	c.Apply("testdata/both-worlds.yaml")
	return c
}

var webRuns = expect.Object{Ref: "pod/web", Phase: "Running"}

func TestInBothWorldsALifecycle(t *testing.T) {
	c := inBothWorlds(t)
	t.Run("another", func(t *testing.T) {
		if other := sim.New(t); len(other.Nodes()) != 2 {
			t.Error("a simulation has clusters beside each other")
		}
	})
	c.Until(webRuns)
	pod, err := c.Client().CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "node-a", pod.Spec.NodeName)
	c.ExpectCalls("CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume")
	c.FromHere()
	c.Delete("pod/web", "pvc/data")
	c.Settle()
	c.ExpectCalls("NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume", "DeleteVolume")
	c.ExpectNoCalls("CreateVolume")
}

func TestInBothWorldsAFault(t *testing.T) {
	c := inBothWorlds(t, sim.WithFaults(fault.Fault{Call: "NodeStageVolume", Effect: fault.Answer, Code: 13, Times: 1}))
	clear := c.Inject(fault.Fault{Call: "NodePublishVolume", Effect: fault.Answer, Code: 8})
	c.Until(expect.Calls{Patterns: []expect.Call{
		{Call: "NodeStageVolume", Code: "Internal"}, {Call: "NodeStageVolume", Code: "OK"}, {Call: "NodePublishVolume", Code: "ResourceExhausted"},
	}})
	clear()
	c.Until(webRuns)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
}

func TestInBothWorldsAFailure(t *testing.T) {
	if os.Getenv(failsHere) == "" {
		t.Skip("it is to fail on a real cluster")
	}
	c := inBothWorlds(t)
	c.Within(time.Second, expect.Object{Ref: "pod/web", Phase: "Succeeded"})
}

func TestInBothWorldsServers(t *testing.T) {
	sim.New(t, sim.WithServers("disk.example.com", sim.Servers{Controller: sim.Services(mock.New(mock.Options{Name: "disk.example.com"}).Controller())}), func(o *sim.Options) { o.Drivers[0].NoNode = true })
}

func TestInBothWorldsAnOrder(t *testing.T) { inBothWorlds(t, sim.WithSeed(7)) }

func TestInBothWorldsALook(t *testing.T) {
	c := inBothWorlds(t)
	c.Always("a node has a name", func(s *sim.Simulation) bool { return len(s.Nodes()) == 2 })
}

func TestInBothWorldsASearch(t *testing.T) {
	sim.Explore(t, sim.Exploration{Runs: 1}, func(t sim.T, o sim.Option) { sim.New(t, o) })
}

// failsHere is the variable that makes TestInBothWorldsAFailure fail.
const failsHere = "CSISIM_TEST_FAILS"

// The same Go tests run on a cluster given by its kubeconfig. A test that needs a simulation is
// skipped with the reason.
func TestGoTestsOnARealCluster(t *testing.T) {
	b := newBed(t)
	run := func(name string, environment ...string) (output string, passed bool) {
		c := exec.Command(os.Args[0], "-test.v", "-test.run=^"+name, "-csisim.on="+b.kubeconfig+"@bed", "-csisim.allow-context=bed")
		c.Env = append(os.Environ(), environment...)
		text, err := c.CombinedOutput()
		return string(text), err == nil
	}
	output, passed := run("TestInBothWorlds", failsHere+"=1")
	assert.False(t, passed, output)
	for _, name := range []string{"PASS: TestInBothWorldsALifecycle ", "PASS: TestInBothWorldsAFault ", "FAIL: TestInBothWorldsAFailure "} {
		assert.Contains(t, output, "--- "+name)
	}
	assert.Contains(t, output, "timed out waiting for the condition: pod web")
	for name, why := range map[string]string{
		"Servers":            `driver "disk.example.com" has no place on a real cluster: its servers are Go code of this process`,
		"AnOrder":            "a strategy has no place on a real cluster: a real cluster runs in an order of its own",
		"ALook":              "Always has no place on a real cluster: a real cluster has no instants",
		"ALifecycle/another": "a second cluster of TestInBothWorldsALifecycle has no place on a real cluster",
		"ASearch":            "a search has no place on a real cluster",
	} {
		assert.Contains(t, output, "--- SKIP: TestInBothWorlds"+name+" ")
		assert.Contains(t, output, why)
	}
	assert.Empty(t, b.managed(), "a test that fails leaves nothing, too")
}

// A test binary that is killed in the middle leaves nothing behind: the process that watches it
// cleans up.
func TestAKilledGoTestLeavesNothingOnARealCluster(t *testing.T) {
	b := newBed(t)
	c := exec.Command(os.Args[0], "-test.run=^TestInBothWorldsALifecycle$", "-csisim.on="+b.kubeconfig+"@bed", "-csisim.allow-context=bed")
	require.NoError(t, c.Start())
	isRunning := func() bool {
		pod, err := b.Client().CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	}
	require.Eventually(t, isRunning, time.Minute, 20*time.Millisecond)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	require.Eventually(t, func() bool { return len(b.managed()) == 0 }, time.Minute, 50*time.Millisecond)
}

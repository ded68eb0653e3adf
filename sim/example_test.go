package sim_test

import (
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// example implements the *testing.T of a test.
type example struct{ cleanups []func() }

func (*example) Helper()                         {}
func (*example) Name() string                    { return "example" }
func (*example) Failed() bool                    { return false }
func (*example) Logf(string, ...any)             {}
func (*example) Errorf(text string, args ...any) { fmt.Printf(text+"\n", args...) }
func (*example) FailNow()                        { os.Exit(1) }
func (e *example) Cleanup(f func())              { e.cleanups = append(e.cleanups, f) }

// end runs at the end of a test, and reports leftovers.
func (e *example) end() {
	for _, f := range e.cleanups {
		f()
	}
	fmt.Println("nothing is left behind")
}

const web = storage + `
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: c, image: web, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: web}}]
`

// A volume's whole life.
func ExampleNew() {
	t := &example{} // a test's own *testing.T
	c := sim.New(t, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}))
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.Delete("pod/web", "pvc/web")
	c.Settle()
	c.ExpectCalls("CreateVolume", "NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume", "DeleteVolume")
	t.end()
	// Output: nothing is left behind
}

// The answer to a call is lost, and the call is made again.
func ExampleCluster_Inject() {
	t := &example{}
	c := sim.New(t, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}))
	c.Inject(fault.Fault{Call: "NodeStageVolume", Effect: fault.LoseAnswer, Code: codes.Unavailable, Times: 1})
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.ExpectCalls("NodeStageVolume", "NodeStageVolume", "NodePublishVolume")
	c.Delete("pod/web", "pvc/web")
	t.end()
	// Output: nothing is left behind
}

// The kubelet restarts, and the driver crashes while its pod runs.
func ExampleCluster_Restart() {
	t := &example{}
	c := sim.New(t, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}))
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.Restart(sim.Kubelet("node-a"), sim.Plugin{Driver: "mock.csi.csisim.dev", Node: "node-a"}, sim.Controller("kube-controller-manager"))
	c.Delete("pod/web", "pvc/web")
	c.Settle()
	t.end()
	// Output: nothing is left behind
}

// A node loses power; six minutes later its volume is detached by force.
func ExampleCluster_PowerOff() {
	t := &example{}
	c := sim.New(t, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}), sim.WithNodes("node-a", "node-b"))
	c.Apply(web)
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.PowerOff("node-a")
	c.Advance(20 * time.Minute)
	c.PowerOn("node-a")
	c.Delete("pod/web", "pvc/web")
	c.Settle()
	t.end()
	// Output: nothing is left behind
}

// Every decision is drawn: the next process, delays, stale views. The same seed makes the same run.
func ExampleWithSeed() {
	for seed := range uint64(5) {
		t := &example{}
		c := sim.New(t, sim.WithMock(mock.Options{Name: "mock.csi.csisim.dev"}), sim.WithSeed(seed))
		c.Apply(web)
		c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
		c.Delete("pod/web", "pvc/web")
		c.Settle()
		t.end()
	}
	// Output:
	// nothing is left behind
	// nothing is left behind
	// nothing is left behind
	// nothing is left behind
	// nothing is left behind
}

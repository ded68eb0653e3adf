package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	_ "github.com/csisim/csisim/sim/kind" // go test -csisim.on=kind
	"github.com/csisim/csisim/sim/namespaces"
)

// plugin is the driver's program.
var plugin string

// TestMain enters namespaces in which tests may mount, and builds the program.
func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "diskplugin-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	plugin = filepath.Join(dir, "diskplugin")
	if out, err := exec.Command("go", "build", "-o", plugin, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// cluster runs the driver as programs: one for each node and one for the controller. Each program
// has its own view of the machine, as in containers.
func cluster(t *testing.T, options ...sim.Option) *sim.Cluster {
	t.Helper()
	if !namespaces.Entered() {
		t.Skip("this machine permits no namespaces, and the driver mounts")
	}
	c := sim.New(t, append(options, sim.WithProgram(
		plugin, "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--root={{.StateDir}}",
	))...)
	c.Apply("../inprocess/testdata/web.yaml")
	return c
}

var running = expect.Object{Ref: "pod/web", Phase: "Running"}

func TestAVolumeLivesFromClaimToDeletion(t *testing.T) {
	c := cluster(t)
	c.Until(running)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
	// Csi-provisioner may call again.
	c.ExpectExactCalls("CreateVolume", "NodePublishVolume", "NodeUnpublishVolume", "DeleteVolume", "...")
}

func TestTheDriverMayDieWhileItWorks(t *testing.T) {
	c := cluster(t, sim.WithFaults(fault.Fault{
		Call: "NodePublishVolume", Effect: fault.Kill, Victim: fault.Driver, At: fault.BeforeAnswer, RestartAfter: 1, Times: 1,
	}))
	c.Until(running)
	c.ExpectCalls(expect.Call{Call: "NodePublishVolume", Code: "Unavailable"}, expect.Call{Call: "NodePublishVolume", Code: "OK"})
	c.Delete("pod/web", "pvc/data")
	c.Settle()
}

func TestANodeThatLosesPowerMountsAnew(t *testing.T) {
	c := cluster(t)
	c.Until(running)
	c.PowerOff("node-a")
	c.PowerOn("node-a")
	c.FromHere()
	c.Until(expect.Calls{Patterns: []expect.Call{{Call: "NodePublishVolume", Node: "node-a", Code: "OK"}}})
	c.Expect(running)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
}

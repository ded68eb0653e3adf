package disk_test

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	"example.com/disk"
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/machine"
)

const root = "/var/lib/disk"

// cluster runs the driver as Go servers in this process. The servers mount nothing on the host and
// need no socket.
func cluster(t *testing.T, options ...sim.Option) *sim.Cluster {
	control := machine.NewMemory("controller")
	c := sim.New(t, append(options, sim.WithServers(disk.Name, sim.Servers{
		Controller: sim.Services(disk.Identity{}, &disk.Controller{Files: control, Root: root}),
		Node: func(node string, on machine.Machine) []machine.Service {
			return sim.Services(disk.Identity{}, &disk.Node{ID: node, Files: on, Root: root})
		},
	}))...)
	c.Apply("testdata/web.yaml")
	return c
}

var running = expect.Object{Ref: "pod/web", Phase: "Running"}

func TestAVolumeLivesFromClaimToDeletion(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	c.Until(running)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
	c.ExpectExactCalls("CreateVolume", "NodePublishVolume", "NodeUnpublishVolume", "DeleteVolume")
}

func TestAPodSurvivesARestartOfEverything(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	c.Until(running)
	c.Restart(sim.Plugin{Driver: disk.Name}, sim.Plugin{Driver: disk.Name, Node: "node-a"}, sim.Kubelet("node-a"), sim.Controller("kube-controller-manager"))
	c.Settle()
	c.Expect(running)
	c.Delete("pod/web", "pvc/data")
	c.Settle()
}

func TestAPublishThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := cluster(t, sim.WithFaults(fault.Fault{Call: "NodePublishVolume", Effect: fault.LoseAnswer, Code: codes.Unavailable, Times: 2}))
	c.Until(running)
	c.ExpectCalls(
		expect.Call{Call: "NodePublishVolume", Code: "Unavailable"}, expect.Call{Call: "NodePublishVolume", Code: "Unavailable"},
		expect.Call{Call: "NodePublishVolume", Code: "OK"},
	)
	c.Expect(expect.Event{Reason: "FailedMount", About: "pod/web", Type: "Warning"})
}

// The same lifecycle succeeds with another order of events. The order is the same in every run.
func TestChanceFindsNothing(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := cluster(t, sim.WithSeed(seed))
			c.Until(running)
			c.Restart(sim.Kubelet("node-a"))
			c.Delete("pod/web", "pvc/data")
			c.Settle()
		})
	}
}

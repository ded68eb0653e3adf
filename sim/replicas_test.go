package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

func withReplicas(sidecars sim.Sidecars) sim.Option {
	return sim.WithDriver(sim.Driver{Mock: &mock.Options{Name: driver, Snapshot: true, ControllerExpand: true, VolumeCondition: true, ListVolumes: true}, Replicas: 2, Sidecars: sidecars})
}

// callers returns the callers of a method, in their order.
func callers(c *sim.Cluster, method string) (all []string) {
	for _, e := range c.Simulation().World.Trace.Events() {
		if e.Kind == trace.Call && strings.HasSuffix(e.Method, "/"+method) {
			all = append(all, e.Actor)
		}
	}
	return all
}

// C-LIB-5: the names of the leases.
func TestSidecarsHoldLeasesOfTheirNames(t *testing.T) {
	c := sim.New(t, withReplicas(sim.Sidecars{}))
	var names []string
	for lease := range store.List[*coordinationv1.Lease](c.Simulation().World.Store, "kube-system") {
		names = append(names, lease.Name)
	}
	assert.ElementsMatch(t, []string{
		"mock-csi-csisim-dev", "external-attacher-leader-mock-csi-csisim-dev", "external-resizer-mock-csi-csisim-dev",
		"external-snapshotter-leader-mock-csi-csisim-dev", "external-health-monitor-leader-mock-csi-csisim-dev",
	}, names)
}

// C-LIB-4: without leader election, which is a mistake in a deployment with replicas, both replicas
// work.
func TestReplicasWithoutLeaderElectionCallTwice(t *testing.T) {
	no := false
	flags := sim.SidecarFlags{LeaderElection: &no}
	c := sim.New(t, withReplicas(sim.Sidecars{Provisioner: sim.ProvisionerOptions{Flags: flags}}))
	c.Inject(fault.Fault{Call: "CreateVolume", Effect: fault.HoldAnswer, Delay: time.Second})
	lifeOf(c)
	assert.ElementsMatch(t, []string{"csi-provisioner/1", "csi-provisioner/2"}, callers(c, "CreateVolume"))
}

// C-LIB-1, C-LIB-4: the leader's pod fails with its plugin and sidecars. While they cannot start,
// the other replica takes over.
func TestTheOtherReplicaTakesOverFromADeadPod(t *testing.T) {
	c := sim.New(t, withReplicas(sim.Sidecars{}))
	c.Kill(sim.Plugin{Driver: driver + "/1"})
	c.Advance(time.Minute)
	lifeOf(c)
	assert.Equal(t, []string{"csi-provisioner/2"}, callers(c, "CreateVolume"))
	assert.Equal(t, []string{"csi-attacher/2"}, callers(c, "ControllerPublishVolume"))
}

// A fault kills only the calling replica.
func TestAFaultKillsTheReplicaThatCalls(t *testing.T) {
	for _, victim := range []string{string(fault.Caller), "csi-provisioner/" + driver + "/leader", string(fault.Driver)} {
		t.Run(victim, func(t *testing.T) {
			c := sim.New(t, withReplicas(sim.Sidecars{}), sim.WithFaults(fault.Fault{
				Call: "CreateVolume", From: "csi-provisioner", Effect: fault.Kill, Victim: fault.Victim(victim), At: fault.OnReceipt, Times: 1,
			}))
			lifeOf(c)
			assert.Equal(t, []string{"csi-provisioner/1", "csi-provisioner/2"}, callers(c, "CreateVolume"))
		})
	}
}

func TestReplicasAreNamedOneByOne(t *testing.T) {
	c := sim.New(t, withReplicas(sim.Sidecars{}))
	names := c.Simulation().Controllers()
	for _, name := range []string{"", "/1", "/2", "/leader"} {
		assert.Contains(t, names, "csi-attacher/"+driver+name)
	}
	c.Kill(sim.Controller("csi-attacher/" + driver))
	c.Advance(time.Minute)
	err := c.Simulation().Kill(sim.Controller("csi-attacher/" + driver + "/3"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "there is no such controller")
	_, err = sim.Start(sim.Options{Drivers: []sim.Driver{{Mock: &mock.Options{Name: driver}, Replicas: 2, NoController: true}}})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "no controller plugin")
}

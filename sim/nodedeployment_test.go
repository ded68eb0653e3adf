package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

const immediateClaim = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: free}
provisioner: ` + driver + `
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: free}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 16Mi}}, storageClassName: free}
`

func onNodes(t *testing.T, flags sim.ProvisionerOptions) *sim.Cluster {
	flags.NodeDeployment = true
	return sim.New(t, sim.WithDriver(sim.Driver{
		Mock: &mock.Options{Name: driver, Topology: true, GetCapacity: true}, Sidecars: sim.Sidecars{Provisioner: flags},
	}), sim.WithNode(sim.Node{Name: "node-a", Zone: "zone-a"}), sim.WithNode(sim.Node{Name: "node-b", Zone: "zone-b"}))
}

// made lists the times of a method's calls, with their nodes.
func made(c *sim.Cluster, method string) (all []string) {
	for _, e := range c.Simulation().World.Trace.Events() {
		if e.Kind == trace.Call && e.Method == "Controller/"+method {
			all = append(all, e.Node+" "+e.At.Round(time.Second).String()+" "+e.Code)
		}
	}
	return all
}

// C-PROV-80: every node leaves the claim to other nodes for 20 s. The first node that writes its
// name into the claim provisions, and the others observe that within 200 ms.
func TestOneNodeTakesAnImmediateClaim(t *testing.T) {
	c := onNodes(t, sim.ProvisionerOptions{})
	began := c.Simulation().World.Kernel.Elapsed()
	c.Apply(immediateClaim)
	c.Advance(19 * time.Second)
	assert.Empty(t, made(c, "CreateVolume"))
	c.Advance(2 * time.Minute)
	require.Len(t, made(c, "CreateVolume"), 1)
	assert.Contains(t, made(c, "CreateVolume")[0], (began + 20*time.Second).Round(time.Second).String())
	c.Expect(expect.Object{Ref: "pvc/free", Phase: "Bound"})
}

// C-PROV-80: flags disable this behaviour and shorten the delay.
func TestNodesTakeImmediateClaimsAsTheirFlagsSay(t *testing.T) {
	no := false
	c := onNodes(t, sim.ProvisionerOptions{NodeDeploymentImmediateBinding: &no})
	c.Apply(immediateClaim)
	c.Advance(20 * time.Minute)
	assert.Empty(t, made(c, "CreateVolume"))

	c = onNodes(t, sim.ProvisionerOptions{NodeDeploymentBaseDelay: time.Second})
	c.Apply(immediateClaim)
	c.Advance(2 * time.Second)
	assert.Len(t, made(c, "CreateVolume"), 1)
}

// C-PROV-80: a node outside allowedTopologies does not take part.
func TestANodeLeavesClaimsOfOtherZonesAlone(t *testing.T) {
	c := onNodes(t, sim.ProvisionerOptions{})
	c.Apply(immediateClaim[:len("\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: free}\n")] +
		"allowedTopologies: [{matchLabelExpressions: [{key: " + driver + "/zone, values: [zone-b]}]}]\n" +
		immediateClaim[len("\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: free}\n"):])
	c.Advance(time.Minute)
	c.ExpectCalls(expect.Call{Call: "CreateVolume", Node: "node-b"})
	c.ExpectNoCalls(expect.Call{Call: "GetCapacity", Node: "node-a"})
}

// C-PROV-80: if no node has room, all nodes try again when the informer delivers the claim again.
func TestNoNodeTakesAClaimThatFitsNowhere(t *testing.T) {
	c := onNodes(t, sim.ProvisionerOptions{})
	empty := c.Inject(fault.Fault{Call: "GetCapacity", Effect: fault.Instead, Response: []byte(`{"available_capacity": 1}`)})
	c.Apply(immediateClaim)
	c.Advance(10 * time.Minute)
	assert.Empty(t, made(c, "CreateVolume"))
	empty()
	c.Advance(7 * time.Minute)
	assert.Len(t, made(c, "CreateVolume"), 1)
}

// C-PROV-80: a node without enough room releases the claim, and another node takes it.
func TestANodeReturnsAClaim(t *testing.T) {
	c := onNodes(t, sim.ProvisionerOptions{})
	c.Inject(fault.Fault{Call: "CreateVolume", Effect: fault.Answer, Code: codes.ResourceExhausted, Times: 1})
	c.Apply(immediateClaim)
	c.Advance(2 * time.Minute)
	calls := made(c, "CreateVolume")
	require.Len(t, calls, 2)
	assert.Contains(t, calls[0], "ResourceExhausted")
	assert.NotContains(t, calls[1], "ResourceExhausted")
	c.Expect(expect.Object{Ref: "pvc/free", Phase: "Bound"})
}

// C-PROV-6: without NodeGetInfo there is no provisioner.
func TestAProvisionerOfANodeNeedsItsDescription(t *testing.T) {
	c := onNodes(t, sim.ProvisionerOptions{})
	names := c.Simulation().Controllers()
	assert.Contains(t, names, "csi-provisioner/"+driver+"/node-b")
	assert.Contains(t, names, "csi-provisioner/"+driver)
	assert.NotContains(t, names, "csi-provisioner/"+driver+"/leader")
	c.Inject(fault.Fault{Call: "NodeGetInfo", From: "csi-provisioner", Effect: fault.Answer, Code: codes.Internal})
	c.Restart(sim.Controller("csi-provisioner/" + driver))
	c.Apply(immediateClaim)
	c.Advance(time.Minute)
	assert.Empty(t, made(c, "CreateVolume"))
}

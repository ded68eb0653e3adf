package promotion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/real/kindcluster/enginetest"
	"github.com/csisim/csisim/sim"
)

// A node image is needed only for a new cluster, and only if no other option names one.
func TestANewClusterNeedsAnImageOfNodes(t *testing.T) {
	old := Subject{Name: "old.yaml", Kubernetes: 23, Nodes: []string{"node-a"}}
	const why = "kind has no image of nodes for it: --node-image names one"
	assert.Equal(t, why, NeverVersion(old, TargetOptions{On: "kind"}))
	assert.Empty(t, NeverVersion(old, TargetOptions{On: "kind", NodeImage: "mine"}))
	assert.Empty(t, NeverVersion(old, TargetOptions{On: "kubeconfig"}))
	assert.Empty(t, NeverVersion(Subject{Nodes: old.Nodes}, TargetOptions{On: "kind"}))
	named := old
	named.Kind = &v1alpha4.Cluster{Nodes: []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, Image: "a"}, {Role: v1alpha4.WorkerRole, Image: "b"}}}
	assert.Empty(t, NeverVersion(named, TargetOptions{On: "kind"}))
	named.Kind.Nodes[1].Image = ""
	assert.Equal(t, why, NeverVersion(named, TargetOptions{On: "kind"}))

	enginetest.Docker(t, "never")
	old.Options = plainSubject.Options
	_, err := Open(t.Context(), []Subject{old}, TargetOptions{On: "kind:new", WorkDir: t.TempDir()})
	assert.EqualError(t, err, "old.yaml: kubernetes 1.23: "+why, "a cluster of that name is not there")
}

// The registrar of a real cluster is node-driver-registrar.
func TestADriverWithAnotherRegistrarIsNotSupported(t *testing.T) {
	d := sim.Driver{Mock: &mock.Options{}}
	assert.Empty(t, NeverDriver(d))
	d.Sidecars.Registrar.Refused = registrar.RefusedStays
	assert.Equal(t, "node-driver-registrar exits when the kubelet refuses the driver", NeverDriver(d))
}

// Go tests and scenarios refuse the same faults.
func TestFaultsThatARealClusterCannotHave(t *testing.T) {
	for _, tt := range []struct {
		fault fault.Fault
		want  string
	}{
		{fault.Fault{Effect: fault.LateAnswer}, ""},
		{fault.Fault{Effect: fault.TimeOut}, "the proxy does not see the driver's system calls"},
		{fault.Fault{Effect: fault.Stall}, "the proxy does not see the driver's system calls"},
		{fault.Fault{Effect: fault.Kill, Victim: fault.Caller}, ""},
		{fault.Fault{Effect: fault.Kill, Victim: "kube-controller-manager"}, ""},
		{fault.Fault{Effect: fault.Kill, Victim: "attachdetach"}, "attachdetach is a part of kube-controller-manager, which dies as a whole"},
	} {
		assert.Equal(t, tt.want, NeverFault(&tt.fault), "%+v", tt.fault)
	}
}

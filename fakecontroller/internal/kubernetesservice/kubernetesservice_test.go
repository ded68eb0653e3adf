package kubernetesservice

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

func TestTheAPIServerIsAServiceOfTheCluster(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World, netip.MustParseAddrPort("127.0.0.1:6443"))
	c.Run(time.Second)
	s := testcluster.Get[*corev1.Service](c, "default", "kubernetes")
	assert.Equal(t, "10.96.0.1", s.Spec.ClusterIP)
	assert.Equal(t, int32(6443), s.Spec.Ports[0].TargetPort.IntVal)
	slice := testcluster.Get[*discoveryv1.EndpointSlice](c, "default", "kubernetes")
	assert.Equal(t, []string{"127.0.0.1"}, slice.Endpoints[0].Addresses)
	assert.True(t, testcluster.Exists[*corev1.Namespace](c, "", "kube-public"))
	assert.True(t, testcluster.Exists[*corev1.Namespace](c, "", "kube-node-lease"))

	_, err := store.Delete[*corev1.Service](c.Store, store.KeyOf(s))
	require.NoError(t, err)
	c.Run(period)
	assert.True(t, testcluster.Exists[*corev1.Service](c, "default", "kubernetes"), "it is made again")
}

// Given an API server, when it has started, then the two system priority classes exist, and a class
// that existed before has not changed. [pkg/registry/scheduling/rest AddSystemPriorityClasses;
// pkg/apis/scheduling/v1 systemPriorityClasses]
func TestTheAPIServerMakesTheSystemPriorityClasses(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	mine := testcluster.Create(c, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "system-cluster-critical"}, Value: 2000000000, Description: "mine",
	})
	Start(c.World, netip.AddrPort{})
	c.Run(time.Second)
	made := testcluster.Get[*schedulingv1.PriorityClass](c, "", "system-node-critical")
	assert.Equal(t, int32(2000001000), made.Value)
	assert.Equal(t, "Used for system critical pods that must not be moved from their current node.", made.Description)
	assert.Equal(t, corev1.PreemptLowerPriority, *made.PreemptionPolicy)
	assert.Equal(t, mine, testcluster.Get[*schedulingv1.PriorityClass](c, "", "system-cluster-critical"))
}

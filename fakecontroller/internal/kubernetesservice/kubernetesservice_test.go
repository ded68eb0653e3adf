package kubernetesservice

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

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

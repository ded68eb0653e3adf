package endpoints

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

func TestTheEndpointsOfAServiceNameTheNodesOfItsPods(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	c.Served("first", "10.0.0.1", corev1.ConditionTrue)
	c.Served("second", "10.0.0.2", corev1.ConditionFalse)
	service := c.Service()
	c.Run(time.Second)
	//lint:ignore SA1019 the real controller still makes them
	endpoints := testcluster.Get[*corev1.Endpoints](c, "default", "web")
	require.Len(t, endpoints.Subsets, 1)
	assert.Equal(t, "10.0.0.1", endpoints.Subsets[0].Addresses[0].IP)
	assert.Equal(t, "10.0.0.2", endpoints.Subsets[0].NotReadyAddresses[0].IP)
	assert.Equal(t, int32(8080), endpoints.Subsets[0].Ports[0].Port)

	_, err := store.Delete[*corev1.Service](c.Store, store.KeyOf(service))
	require.NoError(t, err)
	c.Run(time.Second)
	//lint:ignore SA1019 the real controller still makes them
	assert.False(t, testcluster.Exists[*corev1.Endpoints](c, "default", "web"))
}

package endpointslice

import (
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

func TestTheSliceOfAServiceKnowsItsPods(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	first := c.Served("first", "10.0.0.1", corev1.ConditionTrue)
	c.Served("second", "10.0.0.2", corev1.ConditionFalse)
	c.Service()
	slice := func() *discoveryv1.EndpointSlice {
		c.Run(time.Second)
		for s := range store.List[*discoveryv1.EndpointSlice](c.Store, "default") {
			return s
		}
		return nil
	}
	s := slice()
	require.Len(t, s.Endpoints, 2)
	assert.Equal(t, "web", s.Labels[discoveryv1.LabelServiceName])
	assert.Equal(t, int32(8080), *s.Ports[0].Port)
	assert.Equal(t, []bool{true, false}, []bool{*s.Endpoints[0].Conditions.Ready, *s.Endpoints[1].Conditions.Ready})

	_, err := store.Delete[*corev1.Pod](c.Store, store.KeyOf(first), store.GracePeriod(0))
	require.NoError(t, err)
	s = slice()
	require.Len(t, s.Endpoints, 1)
	assert.Equal(t, []string{"10.0.0.2"}, s.Endpoints[0].Addresses)
}

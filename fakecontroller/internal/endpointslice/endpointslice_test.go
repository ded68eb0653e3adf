package endpointslice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// A slice has the labels of its service, the zones of its pods, and the time of the change that
// triggered the write. [k8s.io/endpointslice/utils.go, util/trigger_time_tracker.go]
func TestASliceHasZonesLabelsAndTheTimeOfItsChange(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	pod := c.Served("first", "10.0.0.1", corev1.ConditionTrue)
	_, err := store.Create(c.Store, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName, Labels: map[string]string{corev1.LabelTopologyZone: "z1"}}})
	require.NoError(t, err)
	service := c.Service()
	c.Run(time.Second)
	slice := func() (found *discoveryv1.EndpointSlice) {
		for s := range store.List[*discoveryv1.EndpointSlice](c.Store, "default") {
			found = s
		}
		return found
	}
	const trigger = corev1.EndpointsLastChangeTriggerTime
	assert.Equal(t, service.CreationTimestamp.UTC().Format(time.RFC3339), slice().Annotations[trigger])
	assert.Equal(t, "z1", *slice().Endpoints[0].Zone)

	later := metav1.NewTime(service.CreationTimestamp.Add(time.Minute))
	_, err = store.ModifyStatus(c.Store, store.KeyOf(pod), func(p *corev1.Pod) {
		for i := range p.Status.Conditions {
			p.Status.Conditions[i].Status, p.Status.Conditions[i].LastTransitionTime = corev1.ConditionFalse, later
		}
	})
	require.NoError(t, err)
	c.Run(time.Second)
	assert.Equal(t, later.UTC().Format(time.RFC3339), slice().Annotations[trigger])

	_, err = store.Modify(c.Store, store.KeyOf(service), func(s *corev1.Service) { s.Labels = map[string]string{"team": "a"} })
	require.NoError(t, err)
	c.Run(time.Second)
	assert.Equal(t, "a", slice().Labels["team"])
	assert.NotContains(t, slice().Annotations, trigger, "no pod has changed")
}

package endpoints

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

func web(c *testcluster.Cluster, name, ip string, ready corev1.ConditionStatus) *corev1.Pod {
	pod := testcluster.Create(c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}}},
	})
	testcluster.ChangeStatus(c, pod, func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	})
	return pod
}

func TestAServiceKnowsWhereItsPodsAre(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	first := web(c, "first", "10.0.0.1", corev1.ConditionTrue)
	web(c, "second", "10.0.0.2", corev1.ConditionFalse)
	testcluster.Create(c, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("http")}}},
	})
	c.Run(time.Second)
	//lint:ignore SA1019 the real controller still makes them
	endpoints := testcluster.Get[*corev1.Endpoints](c, "default", "web")
	require.Len(t, endpoints.Subsets, 1)
	assert.Equal(t, "10.0.0.1", endpoints.Subsets[0].Addresses[0].IP)
	assert.Equal(t, "10.0.0.2", endpoints.Subsets[0].NotReadyAddresses[0].IP)
	assert.Equal(t, int32(8080), endpoints.Subsets[0].Ports[0].Port)
	slice := func() *discoveryv1.EndpointSlice {
		for s := range store.List[*discoveryv1.EndpointSlice](c.Store, "default") {
			return s
		}
		return nil
	}
	require.Len(t, slice().Endpoints, 2)
	assert.Equal(t, "web", slice().Labels[discoveryv1.LabelServiceName])
	assert.Equal(t, []bool{true, false}, []bool{*slice().Endpoints[0].Conditions.Ready, *slice().Endpoints[1].Conditions.Ready})

	_, err := store.Delete[*corev1.Pod](c.Store, store.KeyOf(first), store.GracePeriod(0))
	require.NoError(t, err)
	c.Run(time.Second)
	require.Len(t, slice().Endpoints, 1)
	assert.Equal(t, []string{"10.0.0.2"}, slice().Endpoints[0].Addresses)

	_, err = store.Delete[*corev1.Service](c.Store, store.Key{Namespace: "default", Name: "web"})
	require.NoError(t, err)
	c.Run(time.Second)
	//lint:ignore SA1019 the real controller still makes them
	assert.False(t, testcluster.Exists[*corev1.Endpoints](c, "default", "web"))
}

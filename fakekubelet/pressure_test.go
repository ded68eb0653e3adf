package fakekubelet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/store"
)

func memoryOf(memory string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
	}
}

// priority gives a pod a priority by a class that it makes.
func (n *node) priority(p int32) func(*corev1.PodSpec) {
	name := fmt.Sprintf("priority-%d", p+100)
	if _, made := store.Get[*schedulingv1.PriorityClass](n.Store, store.Key{Name: name}); !made {
		create(n, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: p})
	}
	return func(s *corev1.PodSpec) { s.PriorityClassName = name }
}

// short makes the node short of a resource.
func (n *node) short(of corev1.ResourceName, missing string, usage map[string]string) {
	s := fakekubelet.Shortage{Usage: map[store.Key]int64{}}
	q := resource.MustParse(missing)
	s.Missing = q.Value()
	for pod, used := range usage { // any order: the result is a map
		q := resource.MustParse(used)
		s.Usage[store.Key{Namespace: "default", Name: pod}] = q.Value()
	}
	n.pressure[of] = &s
	n.kubelet.PressureChanged()
}

// evicted lists the pods that the kubelet has evicted, in order.
func (n *node) evicted() (names []string) {
	for _, e := range n.kubeEvents("Evicted") {
		names = append(names, e.Name)
	}
	return names
}

// K-EVICT-1: pkg/kubelet/eviction/helpers.go: rankMemoryPressure. Pods that use more than they
// request are evicted first, then pods with lower priority, then pods with larger usage. One pod is
// evicted at a time, and no critical one.
func TestPodsAreEvictedInTheOrderOfTheirRank(t *testing.T) {
	n := start(t, setting{})
	n.pod("kept", memoryOf("1Gi"), n.priority(-5))
	n.pod("low", memoryOf("100Mi"), n.priority(1))
	n.pod("high", memoryOf("100Mi"), n.priority(9))
	n.pod("larger", memoryOf("100Mi"), n.priority(1))
	n.pod("critical", critical)
	n.waitRunning("critical")
	n.short(corev1.ResourceMemory, "700Mi", map[string]string{
		"kept": "900Mi", "low": "200Mi", "high": "600Mi", "larger": "300Mi", "critical": "4Gi",
	})
	n.pass(2 * time.Minute)
	assert.Equal(t, []string{"Pod/larger", "Pod/low", "Pod/high"}, n.evicted())
	assert.Equal(t, "Failed Evicted", string(n.phase("low"))+" "+n.status("low").Reason)
	assert.Equal(t, "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. "+
		"Container c was using 200Mi, request is 100Mi, has larger consumption of memory. ", n.status("low").Message)
	assert.Equal(t, corev1.PodRunning, n.phase("kept"))
	assert.Equal(t, corev1.PodRunning, n.phase("critical"))
}

// K-EVICT-1: the next pod is evicted when the volumes of the previous one are unmounted;
// waitForPodsCleanup.
func TestTheNextEvictionAwaitsTheVolumes(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("first", using("data"), n.priority(-1))
	n.pod("second")
	n.waitRunning("first")
	n.hold("NodeUnpublishVolume", 15*time.Second)
	n.short(corev1.ResourceEphemeralStorage, "15Mi", nil)
	n.pass(20 * time.Second)
	assert.Equal(t, []string{"Pod/first"}, n.evicted())
	n.pass(10 * time.Second)
	assert.Equal(t, []string{"Pod/first", "Pod/second"}, n.evicted())
	n.settle()
	assert.Empty(t, n.mounts())
}

// K-EVICT-2: pkg/kubelet/eviction/eviction_manager.go: Admit.
func TestANodeUnderPressureRefusesPods(t *testing.T) {
	for _, tt := range []struct {
		resource                          corev1.ResourceName
		bestEffort, burstable, tolerating string
	}{
		{corev1.ResourceMemory, "The node had condition: [MemoryPressure]. ", "", ""},
		{corev1.ResourceEphemeralStorage, "The node had condition: [DiskPressure]. ", "The node had condition: [DiskPressure]. ", "The node had condition: [DiskPressure]. "},
	} {
		n := start(t, setting{})
		n.short(tt.resource, "1Mi", nil)
		n.pass(15 * time.Second)
		n.pod("best")
		n.pod("burst", memoryOf("1Mi"))
		n.pod("tolerating", func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists}}
		})
		n.pod("critical", critical)
		n.pass(time.Second)
		for pod, why := range map[string]string{"best": tt.bestEffort, "burst": tt.burstable, "tolerating": tt.tolerating, "critical": ""} {
			if why != "" {
				why = "Pod was rejected: " + why
			}
			assert.Equal(t, why, n.status(pod).Message, "%s %s", tt.resource, pod)
		}
	}
}

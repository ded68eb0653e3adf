package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func (w *world) priorityClass(name string, value int32, policy corev1.PreemptionPolicy) {
	w.add(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, PreemptionPolicy: &policy})
}

func ofClass(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.PriorityClassName = name }
}

func takes(pods string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	}
}

// kubelet ends pods that are being deleted after a second.
func (w *world) kubelet() {
	w.Start("kubelet", "node-a").Go("", func(p *kernel.Process) {
		for {
			p.Idle(time.Second)
			for pod := range store.List[*corev1.Pod](w.Store, "default") {
				if pod.DeletionTimestamp != nil {
					remove[*corev1.Pod](w, "default", pod.Name)
				}
			}
		}
	})
}

func (w *world) exists(pod string) bool {
	_, ok := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: pod})
	return ok
}

// C-SCHED-50: a pod of higher priority evicts the user of its ReadWriteOncePod claim, and is
// nominated to the node of this user.
func TestAnImportantPodPreemptsTheUserOfAClaim(t *testing.T) {
	w := guarded(t)
	w.priorityClass("high", 1000, corev1.PreemptLowerPriority)
	w.kubelet()
	w.add(aNode("node-a"), aNode("node-b"), aClaim("f", "later", boundTo("v"), exclusively), aVolume("v"), aPod("low", using("f"), on("node-a")))
	w.Run(1500 * time.Millisecond)
	w.add(aPod("high", using("f"), ofClass("high")))
	w.Run(100 * time.Millisecond)
	assert.Equal(t, "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.", w.why("high"))
	high, _ := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "high"})
	assert.Equal(t, "node-a", high.Status.NominatedNodeName)
	low, _ := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "low"})
	assert.NotNil(t, low.DeletionTimestamp)
	assert.Equal(t, corev1.DisruptionTarget, low.Status.Conditions[len(low.Status.Conditions)-1].Type)
	var got []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "Preempted" {
			got = append(got, e.Name+" "+e.Message)
		}
	}
	assert.Equal(t, []string{"Pod/low Preempted by pod " + string(high.UID) + " on node node-a"}, got)

	w.Run(5 * time.Second)
	assert.False(t, w.exists("low"))
	assert.NotEmpty(t, w.nodeOf("high"))
	w.add(aPod("low", using("f"), on("node-a")))
	w.Run(5 * time.Second)
	assert.Empty(t, w.nodeOf("low"))
	remove[*corev1.Pod](w, "default", "high")
	w.Run(time.Second)
	assert.Equal(t, "node-a", w.nodeOf("low"))
}

// The claim stays reserved for the pod with the nomination.
func TestNoPodOfLowerPriorityOvertakes(t *testing.T) {
	w := guarded(t)
	w.priorityClass("high", 1000, corev1.PreemptLowerPriority)
	w.add(aNode("node-a"), aClaim("f", "later", boundTo("v"), exclusively), aVolume("v"), aPod("low", using("f")))
	w.Run(time.Second)
	w.add(aPod("high", using("f"), ofClass("high")))
	w.Run(time.Second)
	w.add(aPod("again", using("f")))
	remove[*corev1.Pod](w, "default", "low")
	w.Run(time.Second)
	assert.Equal(t, "node-a", w.nodeOf("high"))
	assert.Empty(t, w.nodeOf("again"))
}

func TestTheVictimsOfPreemption(t *testing.T) {
	for _, c := range []struct {
		rule    string
		pods    []*corev1.Pod
		policy  corev1.PreemptionPolicy
		evicted []string
		why     string
	}{
		{"the least important, and no more than needed", []*corev1.Pod{aPod("a", ofClass("middle")), aPod("b"), aPod("c", ofClass("middle"))}, corev1.PreemptLowerPriority,
			[]string{"b"}, ""},
		{"no pod of the same priority", []*corev1.Pod{aPod("a", ofClass("high")), aPod("b", ofClass("high")), aPod("c", ofClass("high"))}, corev1.PreemptLowerPriority,
			nil, "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		{"none for a pod with PreemptNever", []*corev1.Pod{aPod("a"), aPod("b"), aPod("c")}, corev1.PreemptNever,
			nil, "preemption: not eligible due to preemptionPolicy=Never."},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := guarded(t)
			w.priorityClass("middle", 500, corev1.PreemptLowerPriority)
			w.priorityClass("high", 1000, c.policy)
			w.add(aNode("node-a", takes("3")))
			for _, pod := range c.pods {
				w.add(pod)
			}
			w.Run(time.Second)
			w.add(aPod("new", ofClass("high")))
			w.Run(time.Second)
			var evicted []string
			for pod := range store.List[*corev1.Pod](w.Store, "default") {
				if pod.DeletionTimestamp != nil {
					evicted = append(evicted, pod.Name)
				}
			}
			assert.Equal(t, c.evicted, evicted)
			assert.Contains(t, w.why("new"), c.why)
		})
	}
}

// Pods are tried in the order of their priorities.
func TestImportantPodsComeFirst(t *testing.T) {
	w := guarded(t)
	w.priorityClass("high", 1000, corev1.PreemptLowerPriority)
	w.add(aPod("low"), aPod("high", ofClass("high")))
	w.Run(time.Second)
	w.add(aNode("node-a", takes("1")))
	w.Run(time.Second)
	assert.Equal(t, "node-a", w.nodeOf("high"))
	assert.Empty(t, w.nodeOf("low"))
}

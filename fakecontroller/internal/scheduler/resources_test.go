package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/store"
)

func asking(name corev1.ResourceName, amount string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		q := corev1.ResourceList{name: resource.MustParse(amount)}
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: q}
		if name == "vendor.example/gpu" {
			p.Spec.Containers[0].Resources.Limits = q
		}
	}
}

func having(name corev1.ResourceName, amount string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = corev1.ResourceList{}
		}
		n.Status.Allocatable[name] = resource.MustParse(amount)
	}
}

// Pods are scheduled to nodes with enough free resources. If no node has enough free resources,
// they wait. C-SCHED-60 [pkg/scheduler/framework/plugins/noderesources/fit.go]
func TestPodsAreScheduledToNodesWithTheirResources(t *testing.T) {
	w := guarded(t)
	w.add(aNode("a", having(corev1.ResourceCPU, "1")), aNode("b", having(corev1.ResourceCPU, "2"), having("vendor.example/gpu", "1")))
	w.add(aPod("large", asking(corev1.ResourceCPU, "1500m")))
	w.Run(time.Second)
	assert.Equal(t, "b", w.nodeOf("large"))
	w.add(aPod("second", asking(corev1.ResourceCPU, "800m")))
	w.Run(time.Second)
	assert.Equal(t, "a", w.nodeOf("second"))
	w.add(aPod("third", asking(corev1.ResourceCPU, "600m")))
	w.Run(time.Second)
	assert.Empty(t, w.nodeOf("third"))
	assert.Equal(t, "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: "+
		"2 No preemption victims found for incoming pod.", w.why("third"))
	w.add(aPod("gpu", asking("vendor.example/gpu", "1")), aPod("gpus", asking("vendor.example/gpu", "2")))
	w.Run(time.Second)
	assert.Equal(t, "b", w.nodeOf("gpu"))
	assert.Contains(t, w.why("gpus"), "2 Insufficient vendor.example/gpu")
	assert.Contains(t, w.why("gpus"), "2 Preemption is not helpful for scheduling")

	_, err := store.ModifyStatus(w.Store, store.Key{Namespace: "default", Name: "large"}, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	require.NoError(t, err)
	w.Run(15 * time.Second)
	assert.Equal(t, "b", w.nodeOf("third"), "a pod that has ended needs nothing")
}

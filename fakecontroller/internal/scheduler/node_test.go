package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Pods go to the nodes with the fewest pods, then in the order of the names.
func TestPodsAreSpread(t *testing.T) {
	w := guarded(t)
	w.add(aNode("b"), aNode("a"), aNode("c"))
	for i := range 7 {
		w.add(aPod(fmt.Sprint("p", i)))
	}
	w.Run(time.Second)
	var nodes string
	for i := range 7 {
		nodes += w.nodeOf(fmt.Sprint("p", i))
	}
	assert.Equal(t, "abcabca", nodes)
}

func TestNodeFilters(t *testing.T) {
	tainted := func(effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "k", Value: "v", Effect: effect}} }
	}
	tolerating := func(toleration corev1.Toleration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{toleration} }
	}
	zoned := func(operator corev1.NodeSelectorOperator) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: corev1.LabelHostname, Operator: operator, Values: []string{"n"}}}}}}}}
		}
	}
	const mismatch = "node(s) didn't match Pod's node affinity/selector"
	for _, c := range []struct {
		says  string
		node  *corev1.Node
		pod   *corev1.Pod
		why   string
		evict bool // evicting a pod could help
	}{
		{says: "plain", node: aNode("n"), pod: aPod("p")},
		{says: "selector", node: aNode("n"), pod: aPod("p", on("n"))},
		{says: "other selector", node: aNode("n"), pod: aPod("p", on("m")), why: mismatch},
		{says: "affinity", node: aNode("n"), pod: aPod("p", zoned(corev1.NodeSelectorOpIn))},
		{says: "other affinity", node: aNode("n"), pod: aPod("p", zoned(corev1.NodeSelectorOpNotIn)), why: mismatch},
		{says: "cordoned", node: aNode("n", func(n *corev1.Node) { n.Spec.Unschedulable = true }), pod: aPod("p"), why: "node(s) were unschedulable"},
		{says: "tainted", node: aNode("n", tainted(corev1.TaintEffectNoExecute)), pod: aPod("p"), why: "node(s) had untolerated taint {k: v}"},
		{says: "mildly tainted", node: aNode("n", tainted(corev1.TaintEffectPreferNoSchedule)), pod: aPod("p")},
		{says: "tolerated value", node: aNode("n", tainted(corev1.TaintEffectNoSchedule)), pod: aPod("p", tolerating(corev1.Toleration{Key: "k", Value: "v"}))},
		{says: "another value", node: aNode("n", tainted(corev1.TaintEffectNoSchedule)), pod: aPod("p", tolerating(corev1.Toleration{Key: "k", Value: "w"})), why: "node(s) had untolerated taint {k: v}"},
		{says: "tolerates all", node: aNode("n", tainted(corev1.TaintEffectNoSchedule)), pod: aPod("p", tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists}))},
		{says: "full", node: aNode("n", func(n *corev1.Node) {
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
		}), pod: aPod("p"), why: "Too many pods", evict: true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(c.node, c.pod)
			w.Run(time.Second)
			if c.why == "" {
				assert.Equal(t, "n", w.nodeOf("p"), w.why("p"))
				return
			}
			preemption := "1 Preemption is not helpful for scheduling"
			if c.evict {
				preemption = "1 No preemption victims found for incoming pod"
			}
			assert.Equal(t, "0/1 nodes are available: 1 "+c.why+". no new claims to deallocate, preemption: 0/1 nodes are available: "+preemption+".", w.why("p"))
		})
	}
}

func TestPodsThatTheSchedulerIgnores(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"),
		aPod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}} }),
		aPod("other", func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" }),
		aPod("placed", func(p *corev1.Pod) { p.Spec.NodeName = "elsewhere" }))
	w.Run(time.Second)
	assert.Empty(t, w.nodeOf("gated"))
	assert.Empty(t, w.nodeOf("other"))
	assert.Equal(t, "elsewhere", w.nodeOf("placed"))
}

// An unschedulable pod is retried when a change could help.
func TestAnUnschedulablePodIsRetriedWhenItsNodeChanges(t *testing.T) {
	w := guarded(t)
	w.add(aPod("p"))
	w.Run(time.Second)
	assert.Equal(t, "no nodes available to schedule pods", w.why("p"))
	w.add(aNode("n", func(n *corev1.Node) { n.Spec.Unschedulable = true }))
	w.Run(time.Second)
	assert.Contains(t, w.why("p"), "node(s) were unschedulable")
	modify(w, "", "n", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	w.Run(time.Second)
	assert.Equal(t, "n", w.nodeOf("p"))
}

// The scheduler's events have no count: repetitions emit nothing.
func TestRepeatedFailuresAreReportedTwice(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"), aPod("p", on("x")))
	for i := range 5 {
		w.Run(time.Second)
		modify(w, "", "n", func(n *corev1.Node) { n.Labels["turn"] = fmt.Sprint(i) })
	}
	w.Run(time.Second)
	got := 0
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			got++
			assert.Equal(t, "FailedScheduling", e.Method)
			assert.Zero(t, e.Count())
		}
	}
	assert.Equal(t, 2, got)
	assert.Equal(t, kernel.Quiet, w.Kernel.Run(kernel.Until{StopWhenQuiet: true}), "a waiting pod keeps nothing busy")
}

// A scheduler reads its whole state from the API.
func TestARestartedSchedulerKnowsTheNodesOfThePods(t *testing.T) {
	w := guarded(t)
	w.add(aNode("a"), aNode("b"), aPod("p0"))
	w.Run(time.Second)
	w.scheduler.Crash()
	w.add(aPod("p1"))
	w.Run(time.Second)
	assert.Empty(t, w.nodeOf("p1"))
	Start(w.World)
	w.Run(time.Second)
	assert.Equal(t, "a", w.nodeOf("p0"))
	assert.Equal(t, "b", w.nodeOf("p1"))
}

// The cost of a pod does not depend on the number of nodes.
func BenchmarkPodsOnManyNodes(b *testing.B) {
	for _, nodes := range []int{10, 1000} {
		b.Run(fmt.Sprint(nodes, " nodes"), func(b *testing.B) {
			w := newWorld(b, store.Options{})
			for i := range nodes {
				w.add(aNode(fmt.Sprintf("n%04d", i), func(n *corev1.Node) {
					n.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1000000")}
				}))
			}
			w.Run(time.Second)
			for i := 0; b.Loop(); i++ {
				w.add(aPod(fmt.Sprint("p", i)))
				w.Run(time.Millisecond)
			}
		})
	}
}

package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func spreadOver(topology string, change ...func(*corev1.TopologySpreadConstraint)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: topology, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
		}
		for _, f := range change {
			f(&c)
		}
		p.Labels, p.Spec.TopologySpreadConstraints = map[string]string{"app": "db"}, append(p.Spec.TopologySpreadConstraints, c)
	}
}

// Given two nodes in zone x and one in zone y, when pods of one kind are created, then the zones
// differ by one pod at most. C-SCHED-61
func TestPodsAreSpreadOverZones(t *testing.T) {
	w := guarded(t)
	w.add(aNode("a", inZoneOf("x")), aNode("b", inZoneOf("x")), aNode("c", inZoneOf("y")))
	zones := map[string]int{}
	for i := range 6 {
		name := fmt.Sprintf("p%d", i)
		w.add(aPod(name, spreadOver(zone)))
		w.Run(time.Second)
		zones[map[string]string{"a": "x", "b": "x", "c": "y"}[w.nodeOf(name)]]++
	}
	assert.Equal(t, map[string]int{"x": 3, "y": 3}, zones)
}

// C-SCHED-61
func TestConstraintsOfSpreadingThatNoNodeKeeps(t *testing.T) {
	const unkept = "node(s) didn't match pod topology spread constraints"
	for _, c := range []struct {
		says string
		pod  *corev1.Pod
		node string
		why  string
	}{
		{"its zone has one already, the other is cordoned", aPod("p", spreadOver(zone)), "", "1 " + unkept},
		{"a skew of two is fine", aPod("p", spreadOver(zone, func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 2 })), "a", ""},
		{"another one counts less", aPod("p", spreadOver(zone), func(p *corev1.Pod) { p.Labels["app"] = "web" }), "a", ""},
		{"only preferred", aPod("p", spreadOver(zone, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })), "a", ""},
		{"nodes that the selector excludes do not count", aPod("p", spreadOver(zone), on("a")), "a", ""},
		{"but do with Ignore", aPod("p", on("a"), spreadOver(zone, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore) })), "", "1 " + unkept},
		{"tainted nodes do not count with Honor", aPod("p", spreadOver(zone, func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor) })), "a", ""},
		{"too few domains", aPod("p", on("a"), spreadOver(zone, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = new(int32(2)) })), "", "1 " + unkept},
		{"a label that no node has", aPod("p", spreadOver("rack")), "", "1 " + unkept + " (missing required label)"},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("a", inZoneOf("x")), aNode("b", inZoneOf("y"), func(n *corev1.Node) {
				n.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
			}))
			w.add(aPod("first", spreadOver(zone)))
			w.Run(time.Second)
			w.add(c.pod)
			w.Run(time.Second)
			assert.Equal(t, c.node, w.nodeOf("p"))
			if c.why != "" {
				assert.Contains(t, w.why("p"), c.why)
			}
		})
	}
}

// Given a pod that waits for a place in its zone, when another pod ends, then it is scheduled.
// C-SCHED-61
func TestASpreadPodIsScheduledAgain(t *testing.T) {
	w := guarded(t)
	w.add(aNode("a", inZoneOf("x")), aNode("b", inZoneOf("y"), func(n *corev1.Node) { n.Spec.Unschedulable = true }))
	w.add(aPod("first", spreadOver(zone)))
	w.Run(time.Second)
	w.add(aPod("p", spreadOver(zone)))
	w.Run(time.Second)
	assert.Empty(t, w.nodeOf("p"))
	remove[*corev1.Pod](w, "default", "first")
	w.Run(time.Minute)
	assert.Equal(t, "a", w.nodeOf("p"))
}

// Given a pod with a host port, when another pod requests this port, then it goes to another node,
// or waits. C-SCHED-62
func TestAPortOfANodeHasOnePod(t *testing.T) {
	port := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	w := guarded(t)
	w.add(aNode("a"), aNode("b"))
	w.add(aPod("p", port), aPod("q", port))
	w.Run(time.Second)
	assert.ElementsMatch(t, []string{"a", "b"}, []string{w.nodeOf("p"), w.nodeOf("q")})
	w.add(aPod("r", port))
	w.Run(time.Second)
	assert.Contains(t, w.why("r"), "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.")
	gone := w.nodeOf("p")
	remove[*corev1.Pod](w, "default", "p")
	w.Run(time.Minute)
	assert.Equal(t, gone, w.nodeOf("r"))
}

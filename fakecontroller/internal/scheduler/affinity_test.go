package scheduler

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const zone = corev1.LabelTopologyZone

func inZoneOf(name string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[zone] = name }
}

func called(app string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} }
}

func termOf(app, topology string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: topology}}
}

func with(terms []corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func without(terms []corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func elsewhere(p *corev1.Pod) { p.Namespace = "kube-system" }

// Given a pod of a driver on node b of two, when another pod with affinity or anti-affinity to it
// is created, then it goes to a node that fits the terms of both pods: by hosts, by zones and by
// namespaces.
func TestPodsRequireNeighbours(t *testing.T) {
	const (
		apart  = "node(s) didn't match pod anti-affinity rules"
		closed = "node(s) didn't satisfy existing pods anti-affinity rules"
		absent = "node(s) didn't match pod affinity rules"
	)
	namespaces := func(change func(*corev1.PodAffinityTerm)) []corev1.PodAffinityTerm {
		terms := termOf("driver", corev1.LabelHostname)
		change(&terms[0])
		return terms
	}
	everywhere := namespaces(func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &metav1.LabelSelector{} })
	for _, c := range []struct {
		says        string
		driver, pod *corev1.Pod
		node, why   string
	}{
		{"no terms: the emptiest node", aPod("d", called("driver")), aPod("p"), "a", ""},
		{"beside the driver", aPod("d", called("driver")), aPod("p", with(termOf("driver", corev1.LabelHostname))), "b", ""},
		{"in its zone", aPod("d", called("driver")), aPod("p", with(termOf("driver", zone))), "a", ""},
		{"by a label that no node has", aPod("d", called("driver")), aPod("p", with(termOf("driver", "rack"))), "", "2 " + absent},
		{"beside a pod that is nowhere", aPod("d", called("driver")), aPod("p", called("app"), with(termOf("other", corev1.LabelHostname))), "", "2 " + absent},
		{"the first of its kind", aPod("d", called("driver")), aPod("p", called("app"), with(termOf("app", corev1.LabelHostname))), "a", ""},
		{"not beside it", aPod("d", called("driver")), aPod("p", without(termOf("driver", corev1.LabelHostname))), "a", ""},
		{"not in its zone", aPod("d", called("driver")), aPod("p", without(termOf("driver", zone))), "", "2 " + apart},
		{"the driver's anti-affinity excludes the pod", aPod("d", called("driver"), without(termOf("app", corev1.LabelHostname))), aPod("p", called("app"), on("b")), "", "1 " + closed},
		{"its anti-affinity does not match the pod", aPod("d", called("driver"), without(termOf("app", corev1.LabelHostname))), aPod("p", called("db"), on("b")), "b", ""},
		{"a driver of another namespace", aPod("d", called("driver"), elsewhere), aPod("p", with(termOf("driver", corev1.LabelHostname))), "", "2 " + absent},
		{"that is named", aPod("d", called("driver"), elsewhere), aPod("p", with(namespaces(func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"kube-system"} }))), "b", ""},
		{"or all namespaces", aPod("d", called("driver"), elsewhere), aPod("p", with(everywhere)), "b", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("a", inZoneOf("z")), aNode("b", inZoneOf("z")))
			on("b")(c.driver)
			w.add(c.driver)
			w.Run(time.Second)
			w.add(c.pod)
			w.Run(time.Second)
			assert.Equal(t, c.node, w.nodeOf("p"))
			if c.why != "" {
				assert.Contains(t, w.why("p"), c.why)
			} else {
				assert.Empty(t, w.why("p"))
			}
		})
	}
}

// Given a pod that waits for the start or the end of another pod, when the other pod starts or
// ends, then the pod is scheduled.
func TestChangesOfNeighboursReturnAPodToTheQueue(t *testing.T) {
	w := guarded(t)
	w.add(aNode("a"), aNode("b"))
	w.add(aPod("p", with(termOf("driver", corev1.LabelHostname))))
	w.Run(time.Second)
	assert.Contains(t, w.why("p"), "node(s) didn't match pod affinity rules")
	w.add(aPod("d", called("driver"), on("b")))
	w.Run(time.Minute)
	assert.Equal(t, "b", w.nodeOf("p"))

	w.add(aPod("q", called("app"), without(termOf("driver", corev1.LabelHostname)), on("b")))
	w.Run(time.Second)
	assert.Contains(t, w.why("q"), "node(s) didn't match pod anti-affinity rules")
	remove[*corev1.Pod](w, "default", "d")
	w.Run(time.Minute)
	assert.Equal(t, "b", w.nodeOf("q"))

	w.add(aPod("r", called("web"), without(termOf("app", corev1.LabelHostname)), on("b")))
	w.Run(time.Second)
	assert.Empty(t, w.nodeOf("r"))
	modify(w, "default", "q", called("db"))
	w.Run(time.Minute)
	assert.Equal(t, "b", w.nodeOf("r"), "its neighbour has another label now")
}

// Given a pod of low priority that excludes another from the only node, when a pod of high priority
// is created, then the first pod is evicted. No pod is evicted for a pod with affinity to a pod
// that does not exist.
func TestPreemptionMakesRoomFromNeighbours(t *testing.T) {
	important := func(p *corev1.Pod) { p.Spec.PriorityClassName = "high" }
	w := guarded(t)
	w.priorityClass("high", 1000, corev1.PreemptLowerPriority)
	w.add(aNode("a"))
	w.add(aPod("low", called("db")))
	w.Run(time.Second)
	w.add(aPod("waits", important, with(termOf("driver", corev1.LabelHostname))))
	w.Run(time.Second)
	assert.True(t, strings.HasSuffix(w.why("waits"), "1 Preemption is not helpful for scheduling."), w.why("waits"))
	w.add(aPod("high", important, without(termOf("db", corev1.LabelHostname))))
	w.Run(time.Second)
	assert.NotContains(t, w.why("high"), "not helpful")
	assert.Contains(t, w.why("high"), "node(s) didn't match pod anti-affinity rules")
}

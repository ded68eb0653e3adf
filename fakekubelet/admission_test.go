package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// change changes the Node object, its status included.
func (n *node) change(how func(*corev1.Node)) {
	n.t.Helper()
	key := store.Key{Name: nodeName}
	_, err := store.Modify(n.Store, key, how)
	require.NoError(n.t, err)
	_, err = store.ModifyStatus(n.Store, key, how)
	require.NoError(n.t, err)
}

func (n *node) status(name string) corev1.PodStatus {
	n.t.Helper()
	pod, ok := store.Get[*corev1.Pod](n.Store, podKey(name))
	require.True(n.t, ok)
	return pod.Status
}

func wanting(name corev1.ResourceName, amount string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		q := corev1.ResourceList{name: resource.MustParse(amount)}
		s.Containers[0].Resources = corev1.ResourceRequirements{Requests: q}
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory {
			s.Containers[0].Resources.Limits = q
		}
	}
}

func selecting(label, value string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{label: value} }
}

// The kubelet decides on pods with a node name that the scheduler has not set. K-ADM-1..3, K-ADM-5
// [pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/sysctl/allowlist.go;
// kubernetes/kubernetes#123592]
func TestAPodThatDoesNotFitIsNotAdmitted(t *testing.T) {
	const mismatch = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
	for _, c := range []struct {
		says            string
		node            func(*corev1.Node)
		pod             func(*corev1.PodSpec)
		reason, message string // empty: the pod runs
	}{
		{says: "it fits", pod: wanting(corev1.ResourceCPU, "2")},
		{says: "too many processors", pod: wanting(corev1.ResourceCPU, "2001m"), reason: "OutOfcpu",
			message: "Node didn't have enough resource: cpu, requested: 2001, used: 0, capacity: 2000"},
		{says: "too much memory", pod: wanting(corev1.ResourceMemory, "9Gi"), reason: "OutOfmemory",
			message: "Node didn't have enough resource: memory, requested: 9663676416, used: 0, capacity: 8589934592"},
		{says: "too much local storage", pod: wanting(corev1.ResourceEphemeralStorage, "101Gi"), reason: "OutOfephemeral-storage",
			message: "Node didn't have enough resource: ephemeral-storage, requested: 108447924224, used: 0, capacity: 107374182400"},
		{says: "no room for one more pod", node: func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("0") }, reason: "OutOfpods",
			message: "Node didn't have enough resource: pods, requested: 1, used: 0, capacity: 0"},
		{says: "too few devices", node: func(n *corev1.Node) { n.Status.Allocatable["vendor.example/gpu"] = resource.MustParse("1") },
			pod: wanting("vendor.example/gpu", "2"), reason: "OutOfvendor.example/gpu",
			message: "Node didn't have enough resource: vendor.example/gpu, requested: 2, used: 0, capacity: 1"},
		{says: "devices that the node does not know", pod: wanting("vendor.example/gpu", "2")},
		{says: "another label", pod: selecting("tier", "fast"), reason: "NodeAffinity", message: mismatch},
		{says: "resources come before labels", pod: func(s *corev1.PodSpec) { selecting("tier", "fast")(s); wanting(corev1.ResourceCPU, "3")(s) }, reason: "OutOfcpu",
			message: "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"},
		{says: "a taint that evicts", node: tainted(corev1.TaintEffectNoExecute), reason: "TaintToleration",
			message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"},
		{says: "a taint that is for the scheduler", node: tainted(corev1.TaintEffectNoSchedule)},
		{says: "a taint that it tolerates", node: tainted(corev1.TaintEffectNoExecute),
			pod: func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} }},
		{says: "a kernel parameter that is not safe", pod: sysctl("kernel.msgmax"), reason: "SysctlForbidden", message: `forbidden sysctl: "kernel.msgmax" not allowlisted`},
		{says: "a kernel parameter that is safe", pod: sysctl("net/ipv4/tcp_syncookies")},
	} {
		t.Run(c.says, func(t *testing.T) {
			n := start(t, setting{})
			if c.node != nil {
				n.change(c.node)
				n.pass(time.Second)
			}
			if c.pod == nil {
				c.pod = func(*corev1.PodSpec) {}
			}
			n.pod("web", c.pod)
			n.settle()
			s := n.status("web")
			if c.reason == "" {
				assert.Equal(t, corev1.PodRunning, s.Phase, s.Message)
				return
			}
			assert.Equal(t, corev1.PodFailed, s.Phase)
			assert.Equal(t, c.reason, s.Reason)
			assert.Equal(t, "Pod was rejected: "+c.message, s.Message)
			assert.Empty(t, s.ContainerStatuses)
			assert.Empty(t, s.Conditions)
			assert.Contains(t, n.events(), "Warning "+c.reason+": "+c.message+" (1)")
			assert.Empty(t, n.runtime.Pods())
		})
	}
}

func tainted(effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: effect}} }
}

func sysctl(name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: name, Value: "1"}}}
	}
}

// Running pods count; rejected and finished pods do not. K-ADM-3
func TestRunningPodsOccupyTheirResources(t *testing.T) {
	n := start(t, setting{})
	n.pod("first", wanting(corev1.ResourceCPU, "1500m"))
	n.pod("second", wanting(corev1.ResourceCPU, "1"))
	n.settle()
	assert.Equal(t, "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000", n.status("second").Message)
	n.pod("third", wanting(corev1.ResourceCPU, "500m"))
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("third"))
	n.setPhase("first", corev1.PodSucceeded)
	n.settle()
	n.pod("fourth", wanting(corev1.ResourceCPU, "1500m"))
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("fourth"))
}

// Two pods cannot use the same port of their node. K-ADM-2
func TestAPortOfTheNodeIsTakenOnce(t *testing.T) {
	port := func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	n := start(t, setting{})
	n.pod("first", port)
	n.pod("second", port)
	n.settle()
	assert.Equal(t, "NodePorts: Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
		n.status("second").Reason+": "+n.status("second").Message)
}

// runningByLabel returns a node with a pod that runs there because of a label.
func runningByLabel(t *testing.T) *node {
	n := start(t, setting{})
	n.change(func(node *corev1.Node) { node.Labels["tier"] = "fast" })
	n.pass(time.Second)
	n.volume("data")
	n.pod("web", using("data"), selecting("tier", "fast"))
	n.run("web")
	return n
}

// A running pod that no longer fits keeps running until its kubelet restarts. Then it fails, and
// its volumes are unpublished. K-ADM-6 [kubernetes/kubernetes#124586, #123980, #99708]
func TestAPodThatNoLongerFitsFailsWhenItsKubeletStarts(t *testing.T) {
	n := runningByLabel(t)
	n.change(func(node *corev1.Node) { node.Labels["tier"] = "slow" })
	n.pass(5 * time.Minute)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	n.forget()

	n.killKubelet()
	n.startKubelet()
	n.until(func() bool { return len(n.kubeEvents("NodeAffinity")) > 0 })
	assert.Equal(t, corev1.PodRunning, n.phase("web"), "its containers run still")
	assert.Empty(t, n.status("web").ContainerStatuses)
	n.until(func() bool { return len(n.runtime.Pods()) == 0 })
	n.until(func() bool { return n.phase("web") == corev1.PodFailed })
	assert.Equal(t, "NodeAffinity", n.status("web").Reason)
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls(),
		"the first pass of the populator takes the pod for one that runs")
	assert.Empty(t, n.mounts())
	assert.Empty(t, n.node().Status.VolumesInUse)

	n.deletePod("web")
	n.settle()
	_, there := store.Get[*corev1.Pod](n.Store, podKey("web"))
	assert.False(t, there)
}

// A finished pod is not admitted again, even if its node has changed. K-ADM-1
func TestAnEndedPodKeepsItsPhase(t *testing.T) {
	n := runningByLabel(t)
	n.setPhase("web", corev1.PodSucceeded)
	n.settle()
	n.change(func(node *corev1.Node) { node.Labels["tier"] = "slow" })
	n.killKubelet()
	n.startKubelet()
	n.settle()
	assert.Equal(t, corev1.PodSucceeded, n.phase("web"))
	assert.Empty(t, n.kubeEvents("NodeAffinity"))
}

// The oldest pods are admitted first when a kubelet starts. K-ADM-1
func TestTheOldestPodsKeepTheirPlace(t *testing.T) {
	n := start(t, setting{})
	n.pod("young", func(*corev1.PodSpec) {})
	young, _ := store.Get[*corev1.Pod](n.Store, podKey("young"))
	n.pass(5 * time.Second)
	n.pod("a-younger", func(*corev1.PodSpec) {})
	n.settle()
	younger, _ := store.Get[*corev1.Pod](n.Store, podKey("a-younger"))
	require.True(t, young.CreationTimestamp.Before(&metav1.Time{Time: younger.CreationTimestamp.Time}))
	n.change(func(node *corev1.Node) { node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1") })
	n.killKubelet()
	n.startKubelet()
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("young"))
	assert.Equal(t, "OutOfpods", n.status("a-younger").Reason)
}

// A critical pod ends other pods until it fits. If it still does not fit, it is rejected. K-ADM-4
// [pkg/kubelet/preemption/preemption.go]
func TestACriticalPodEndsOthers(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("small", wanting(corev1.ResourceCPU, "200m"))
	n.pod("large", using("data"), wanting(corev1.ResourceCPU, "1500m"))
	n.settle()
	n.pod("critical", critical, wanting(corev1.ResourceCPU, "1"))
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("critical"))
	assert.Equal(t, corev1.PodRunning, n.phase("small"))
	large := n.status("large")
	assert.Equal(t, "Failed Preempting: Preempted in order to admit critical pod", string(large.Phase)+" "+large.Reason+": "+large.Message)
	assert.Empty(t, n.mounts())
	last := large.Conditions[len(large.Conditions)-1]
	assert.Equal(t, "DisruptionTarget True TerminationByKubelet: Pod was preempted by Kubelet to accommodate a critical pod.",
		string(last.Type)+" "+string(last.Status)+" "+last.Reason+": "+last.Message)

	n.pod("greedy", critical, wanting(corev1.ResourceCPU, "3"))
	n.settle()
	assert.Equal(t, "UnexpectedAdmissionError", n.status("greedy").Reason)
	assert.Equal(t, "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: "+
		"no set of running pods found to reclaim resources: [(res: cpu, q: 2000), ]", n.status("greedy").Message)
}

package fakekubelet

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/sim/store"
)

// managedAttach says that the attach/detach controller acts for this node. K-CFG-4
const managedAttach = "volumes.kubernetes.io/controller-managed-attach-detach"

// register makes the Node object, or corrects one that is there. K-CFG-4
func (k *Kubelet) register() {
	node, ok := store.Get[*corev1.Node](k.Store, store.Key{Name: k.options.Name})
	if !ok {
		_, _ = store.Adopt(k.Store, k.newNode())
		return
	}
	if node.Annotations[managedAttach] == "" {
		_, _ = store.Modify(k.Store, store.KeyOf(node), func(n *corev1.Node) {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, managedAttach, "true")
		})
	}
	if node.Status.NodeInfo.KubeletVersion != k.Version.Release() {
		_, _ = store.ModifyStatus(k.Store, store.KeyOf(node), func(n *corev1.Node) {
			n.Status.NodeInfo.KubeletVersion = k.Version.Release()
		})
	}
}

func (k *Kubelet) newNode() *corev1.Node {
	name := k.options.Name
	labels := map[string]string{
		"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
	}
	maps.Copy(labels, k.options.Labels)
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("2"),
		corev1.ResourceMemory:           resource.MustParse("8Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		corev1.ResourcePods:             *resource.NewQuantity(int64(k.options.MaxPods), resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{
			managedAttach: "true", "node.alpha.kubernetes.io/ttl": "0",
		}},
		Spec: corev1.NodeSpec{Taints: slices.Clone(k.options.Taints)},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			// The programs of all nodes share the host's network. [pkg/kubelet/nodestatus NodeAddress]
			Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: loopback}, {Type: corev1.NodeHostName, Address: name}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: k.Version.Release(), OperatingSystem: "linux", Architecture: "amd64"},
			Conditions: k.conditions(nil),
		},
	}
}

// conditions are those of a healthy node, but for what its CSINode says; a
// condition that does not change keeps the time since when it holds.
func (k *Kubelet) conditions(before []corev1.NodeCondition) []corev1.NodeCondition {
	now := metav1.NewTime(k.Kernel.Now())
	conditions := []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", Message: "kubelet has no disk pressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", Message: "kubelet has sufficient PID available"},
		k.readiness(),
	}
	for i := range conditions {
		c := &conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		for _, was := range before {
			if was.Type == c.Type && was.Status == c.Status {
				c.LastTransitionTime = was.LastTransitionTime
			}
		}
	}
	return conditions
}

// readiness is the Ready condition. K-NODE-1
func (k *Kubelet) readiness() corev1.NodeCondition {
	why := k.info.NotReady()
	if k.shuttingDown {
		why = "node is shutting down"
	}
	if why != "" {
		return corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady", Message: why}
	}
	return corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status"}
}

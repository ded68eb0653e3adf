package fakekubelet

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// managedAttach means that the attach/detach controller acts for this node. K-CFG-4
const managedAttach = "volumes.kubernetes.io/controller-managed-attach-detach"

// Pauses between the attempts to register the node. [pkg/kubelet/kubelet_node_status.go
// registerWithAPIServer]
const (
	registerPause    = 100 * time.Millisecond
	registerMaxPause = 7 * time.Second
)

// register creates the Node object or corrects the existing one, after a short pause. K-CFG-4
func (k *Kubelet) register(p *kernel.Process) {
	for pause := registerPause; ; pause = min(2*pause, registerMaxPause) {
		p.Sleep(pause)
		k.announce(nil)
		if k.tryRegister() == nil {
			return
		}
	}
}

func (k *Kubelet) tryRegister() error {
	node, ok := store.Get[*corev1.Node](k.Store, store.Key{Name: k.options.Name})
	if !ok {
		_, err := store.Adopt(k.Store, k.newNode())
		return err
	}
	if node.Annotations[managedAttach] == "" {
		if _, err := store.Modify(k.Store, store.KeyOf(node), func(n *corev1.Node) {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, managedAttach, "true")
		}); err != nil {
			return err
		}
	}
	if node.Status.NodeInfo.KubeletVersion == k.Version.Release() {
		return nil
	}
	_, err := store.ModifyStatus(k.Store, store.KeyOf(node), func(n *corev1.Node) {
		n.Status.NodeInfo.KubeletVersion = k.Version.Release()
	})
	return err
}

func (k *Kubelet) newNode() *corev1.Node {
	name := k.options.Name
	labels := map[string]string{
		"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
	}
	maps.Copy(labels, k.options.Labels)
	resources := corev1.ResourceList{
		corev1.ResourceCPU:              rendered(resource.MustParse("2")),
		corev1.ResourceMemory:           rendered(resource.MustParse("8Gi")),
		corev1.ResourceEphemeralStorage: rendered(resource.MustParse("100Gi")),
		corev1.ResourcePods:             rendered(*resource.NewQuantity(int64(k.options.MaxPods), resource.DecimalSI)),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{
			managedAttach: "true",
		}},
		Spec: corev1.NodeSpec{Taints: slices.Clone(k.options.Taints)},
		Status: corev1.NodeStatus{
			Capacity: resources, Allocatable: resources,
			// [pkg/kubelet/nodestatus NodeAddress]
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: k.options.Address}, {Type: corev1.NodeHostName, Address: name}},
			// [pkg/kubelet/nodestatus MachineInfo, VersionInfo]
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion: k.Version.Release(), OperatingSystem: "linux", Architecture: "amd64",
				OSImage: "csisim", KernelVersion: kernelVersion, ContainerRuntimeVersion: "csisim://" + k.Version.Release(),
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: Port}},
			Conditions:      k.conditions(nil),
		},
	}
}

// kernelVersion is the same on each machine, like all parts of a run. Programs run on the machine's
// own kernel.
const kernelVersion = "6.12.0-csisim"

// rendered returns a quantity with its text, because each write of the status reads the text
// several times.
func rendered(q resource.Quantity) resource.Quantity {
	_ = q.String()
	return q
}

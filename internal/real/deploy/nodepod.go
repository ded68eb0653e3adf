package deploy

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// NodePort is the port of the pod that runs commands on its node.
	NodePort = 9806
	// NodePart is the PartLabel of such pods.
	NodePart = "machine"
)

// NodePod returns a pod that runs commands on a node. It is in kube-system, where privileged pods
// are usually admitted.
func NodePod(node, image, token string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "csisim-on-" + node, Namespace: metav1.NamespaceSystem, Labels: map[string]string{ManagedBy: By, PartLabel: NodePart},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostPID: true, TerminationGracePeriodSeconds: new(int64(1)), PriorityClassName: "system-node-critical",
			AutomountServiceAccountToken: new(false), Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: NodePart, Image: image, Command: []string{"/csisim", "node", "--address", fmt.Sprintf(":%d", NodePort)},
				Env: []corev1.EnvVar{{Name: TokenVariable, Value: token}}, SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
			}},
		},
	}
}

package realcluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/deploy"
)

// killContainer kills the container of a sidecar, or of kube-controller-manager.
func (c *Cluster) killContainer(name string) error {
	container, driver, isSidecar := strings.Cut(name, "/")
	options, namespace := labelled("component="+name), metav1.NamespaceSystem
	if isSidecar {
		options, namespace = c.podsOfRun(driver), metav1.NamespaceAll
		if own := c.driver(driver).Own; own != nil {
			container = own.Container(container)
		}
	}
	pods, err := c.clients.CoreV1().Pods(namespace).List(c.ctx, options)
	if err != nil {
		return environment(err, "find the pod of %s", name)
	}
	at := slices.IndexFunc(pods.Items, func(pod corev1.Pod) bool { return pod.DeletionTimestamp == nil && isRunning(pod, container) })
	if at < 0 {
		return environment(errors.New("none runs"), "find the pod of %s", name)
	}
	pod := pods.Items[at]
	_, err = c.run(pod.Spec.NodeName, "sh", "-c", killCommand(pod, container))
	return environment(err, "kill %s on %s", name, pod.Spec.NodeName)
}

// killCommand is the shell's command that kills a pod's container on its node, where other pods may have one of that name.
func killCommand(pod corev1.Pod, container string) string {
	found := fmt.Sprintf("crictl ps -q --name '^%s$' --label io.kubernetes.pod.namespace=%s --label io.kubernetes.pod.name=%s", container, pod.Namespace, pod.Name)
	return fmt.Sprintf("kill -9 $(crictl inspect --output go-template --template '{{.info.pid}}' $(%s | head -n 1))", found)
}

func isRunning(pod corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == container && s.State.Running != nil
	})
}

// podsOfRun selects the pods of a driver that this run has deployed, those of all drivers if it is empty.
func (c *Cluster) podsOfRun(driver string) metav1.ListOptions {
	selector := deploy.RunLabel + "=" + c.options.Deploy.Run + "," + deploy.DriverLabel
	if driver != "" {
		selector += "=" + deploy.Slug(driver)
	}
	return labelled(selector)
}

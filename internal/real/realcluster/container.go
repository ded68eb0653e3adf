package realcluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
)

// victim is a container that was killed.
type victim struct {
	namespace, pod, container string
	id                        string // of the container
	// The node with the stopped kubelet; empty if a kubelet restarts the container at once.
	node string
}

// killController kills the container of a sidecar, or of kube-controller-manager. If its node is
// not one of the scenario's, the container must stay down. Therefore the node's kubelet, which
// would restart the container, is stopped first.
func (c *Cluster) killController(name string) error {
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
	v := victim{namespace: pod.Namespace, pod: pod.Name, container: container, id: idOf(pod, container)}
	if !slices.Contains(c.options.Nodes, pod.Spec.NodeName) {
		v.node = pod.Spec.NodeName
		if err := c.stopKubelet(v.node); err != nil {
			return err
		}
	}
	c.killed[name] = v
	_, err = c.run(pod.Spec.NodeName, "sh", "-c", killCommand(pod, container))
	return environment(err, "kill %s on %s", name, pod.Spec.NodeName)
}

// startController starts the kubelet that was stopped for a controller, and waits until the
// container runs.
func (c *Cluster) startController(name string) error {
	v, down := c.killed[name]
	if !down {
		return nil
	}
	delete(c.killed, name)
	if v.node != "" {
		if err := c.startKubelet(v.node); err != nil {
			return err
		}
	}
	return c.WaitFor(name+" to run again", podTime, func() bool {
		pod, err := c.clients.CoreV1().Pods(v.namespace).Get(c.ctx, v.pod, metav1.GetOptions{})
		return err == nil && isRunning(*pod, v.container) && idOf(*pod, v.container) != v.id
	})
}

// idOf returns the id of a pod's container.
func idOf(pod corev1.Pod, container string) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == container {
			return s.ContainerID
		}
	}
	return ""
}

// killCommand returns the shell command that kills a pod's container on its node. Other pods may
// have a container with the same name.
func killCommand(pod corev1.Pod, container string) string {
	found := fmt.Sprintf("crictl ps -q --name '^%s$' --label io.kubernetes.pod.namespace=%s --label io.kubernetes.pod.name=%s", container, pod.Namespace, pod.Name)
	return fmt.Sprintf("kill -9 $(crictl inspect --output go-template --template '{{.info.pid}}' $(%s | head -n 1))", found)
}

func isRunning(pod corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == container && s.State.Running != nil
	})
}

// podsOfRun selects the pods of a driver that this run has deployed. Without a name it selects the
// pods of all drivers.
func (c *Cluster) podsOfRun(driver string) metav1.ListOptions {
	selector := deploy.RunLabel + "=" + c.options.Deploy.Run + "," + deploy.DriverLabel
	if driver != "" {
		selector += "=" + deploy.Slug(c.inCluster(driver))
	}
	return labelled(selector)
}

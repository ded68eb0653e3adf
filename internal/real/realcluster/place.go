package realcluster

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
)

// place is where a proxy runs.
type place struct {
	namespace, pod, container string
	driver, part, node        string // its driver's slug; node or controller; the node of its pod
	port                      int
}

func (p place) String() string { return "pod " + p.pod }

// isOn reports whether what is done on a node concerns the proxy, on any if it is empty: a controller plugin is asked about all nodes.
func (p place) isOn(node string) bool { return node == "" || p.part != "node" || p.node == node }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.namespace, q.namespace), cmp.Compare(p.pod, q.pod), cmp.Compare(p.part, q.part))
}

// path is an address of the proxy, through the API server.
func (p place) path(of string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", p.namespace, p.pod, p.port, of)
}

// proxies are those of a driver that run: part is node or controller, empty for both; node narrows it down.
func (c *Cluster) proxies(ctx context.Context, driver, part, node string) (all []place, err error) {
	options := c.podsOfRun(driver)
	if node != "" {
		options.FieldSelector = "spec.nodeName=" + node
	}
	list, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
	if err != nil {
		return nil, err
	}
	for _, pod := range list.Items {
		for _, at := range proxiesOf(pod) {
			if (part == "" || at.part == part) && at.runs(pod) {
				all = append(all, at)
			}
		}
	}
	return all, nil
}

// proxiesOf are the proxies in a pod: one in those that are made here, one for each part in those of a driver's own manifests.
func proxiesOf(pod corev1.Pod) (all []place) {
	at := place{namespace: pod.Namespace, pod: pod.Name, driver: pod.Labels[deploy.DriverLabel], node: pod.Spec.NodeName}
	annotation := pod.Annotations[deploy.ProxiesAnnotation]
	if annotation == "" {
		at.container, at.part, at.port = deploy.PluginContainer, pod.Labels[deploy.PartLabel], deploy.ProxyPort
		return []place{at}
	}
	for _, one := range strings.Split(annotation, ",") {
		part, port, _ := strings.Cut(one, "=")
		at.container, at.part = deploy.ProxyContainer+part, part
		at.port, _ = strconv.Atoi(port) // csisim has written it
		all = append(all, at)
	}
	return all
}

func (p place) runs(pod corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.PodIP != "" && isRunning(pod, p.container)
}

// inCluster is the name that a driver has in the cluster.
func (c *Cluster) inCluster(driver string) string { return cmp.Or(c.driver(driver).Name, driver) }

// driver is the deployment of a driver; its zero value if there is none of that name.
func (c *Cluster) driver(name string) deploy.Driver {
	for _, d := range c.options.Drivers {
		if c.options.Deploy.Scope.Plain(d.Name) == c.options.Deploy.Scope.Plain(name) {
			return d
		}
	}
	return deploy.Driver{}
}

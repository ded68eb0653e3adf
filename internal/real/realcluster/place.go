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

// place identifies a proxy.
type place struct {
	namespace, pod, container string
	driver, part, node        string // its driver's slug; node or controller; the node of its pod
	port                      int
}

func (p place) String() string { return "pod " + p.pod }

// isOn reports whether the proxy receives calls for a node; an empty node means any. A controller
// plugin receives calls for all nodes.
func (p place) isOn(node string) bool { return node == "" || p.part != "node" || p.node == node }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.namespace, q.namespace), cmp.Compare(p.pod, q.pod), cmp.Compare(p.part, q.part))
}

// path returns a URL path of the proxy, through the API server.
func (p place) path(of string) string {
	return fmt.Sprintf("/api/v1/namespaces/%s/pods/%s:%d/proxy%s", p.namespace, p.pod, p.port, of)
}

// proxies returns the running proxies of a driver. part is node or controller; empty means both.
// node restricts the selection.
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

// proxiesOf returns the proxies in a pod: one in a pod created by csisim, one for each part in a
// pod of a driver's own manifests.
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

// inCluster returns the name of a driver in the cluster.
func (c *Cluster) inCluster(driver string) string { return cmp.Or(c.driver(driver).Name, driver) }

// driver returns the deployment of a driver; the zero value if there is none with that name.
func (c *Cluster) driver(name string) deploy.Driver {
	for _, d := range c.options.Drivers {
		if c.options.Deploy.Scope.Plain(d.Name) == c.options.Deploy.Scope.Plain(name) {
			return d
		}
	}
	return deploy.Driver{}
}

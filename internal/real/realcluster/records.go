package realcluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
)

// discardRecords deletes the records of the run's proxies on their nodes. 'clean' deletes the
// records of a proxy that does not answer.
func (c *Cluster) discardRecords(ctx context.Context) {
	_ = c.eachProxy(ctx, "", "", func(at place) error {
		_, _ = c.ask(ctx, at, "DELETE", "/records", nil, nil)
		return nil
	})
}

// discardLateRecords deletes, on kind's nodes, the records that discardRecords missed: those that
// proxies wrote later, or before they began to answer, because a run can end while proxies start.
// The proxies' pods are deleted by now.
func (c *Cluster) discardLateRecords(ctx context.Context) {
	if !c.reachesDirectly() {
		return
	}
	nodes, err := c.clients.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the cluster is unreachable
	}
	remove := []string{"rm", "-rf", "--"}
	for _, d := range c.options.Drivers {
		for _, part := range []string{"node", "controller"} {
			remove = append(remove, deploy.Records(d.Name, part))
		}
	}
	for _, n := range nodes.Items {
		_, _ = c.options.Machines.Run(ctx, n.Name, remove...) // 'clean' deletes the rest
	}
}

// discardAllRecords deletes the records of the proxies of all runs on their nodes. It returns the
// nodes where it succeeded, and those where it failed.
func (c *Cluster) discardAllRecords(ctx context.Context) (gone, stay []string, err error) {
	pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(ctx, labelled(deploy.ManagedBy+"="+deploy.By+","+deploy.RunLabel))
	if err != nil {
		return nil, nil, err
	}
	for _, pod := range pods.Items {
		c.options.Deploy.Proxy = tokenOf(pod)
		for _, at := range proxiesOf(pod) {
			if _, err := c.ask(ctx, at, "DELETE", "/records", nil, nil); err == nil {
				gone = append(gone, at.node)
			} else {
				stay = append(stay, at.node)
			}
		}
	}
	return sortedOnce(gone), sortedOnce(stay), nil
}

func sortedOnce(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// tokenOf returns the token of the proxies in a pod.
func tokenOf(pod corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		for _, e := range container.Env {
			if e.Name == deploy.TokenVariable {
				return e.Value
			}
		}
	}
	return ""
}

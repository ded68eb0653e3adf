package realcluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// podTime limits the end or the start of a driver's pod.
const podTime = time.Minute

// evict removes the pod of a plugin, with its registrar, from its node and keeps it off, because
// its DaemonSet avoids nodes with the driver's label.
func (c *Cluster) evict(p sim.Plugin) error {
	c.evicted[c.evictable(p)] = true
	if err := c.mark(c.ctx, p, "true"); err != nil {
		return environment(err, "keep driver %s off %s", p.Driver, p.Node)
	}
	if c.silent[p.Node] {
		return c.stopContainers(p)
	}
	return c.WaitFor(fmt.Sprintf("the pod of the %s to end", p), podTime, func() bool {
		list, err := c.clients.CoreV1().Pods(c.namespace()).List(c.ctx, c.podsOf(p))
		return err == nil && len(list.Items) == 0
	})
}

// keepOff evicts the plugins that are down at the beginning.
func (c *Cluster) keepOff() error {
	for _, d := range c.options.Drivers {
		for _, node := range d.Down {
			p := sim.Plugin{Driver: d.Name, Node: node}
			c.evicted[c.evictable(p)] = true
			if err := c.mark(c.ctx, p, "true"); err != nil {
				return environment(err, "keep driver %s off %s", d.Name, node)
			}
		}
	}
	return nil
}

// evictable returns a plugin with its driver's name in the cluster; steps use the name in the
// scenario.
func (c *Cluster) evictable(p sim.Plugin) sim.Plugin {
	return sim.Plugin{Driver: c.inCluster(p.Driver), Node: p.Node}
}

// podsOf selects the pods of a node plugin.
func (c *Cluster) podsOf(p sim.Plugin) metav1.ListOptions {
	return metav1.ListOptions{
		LabelSelector: deploy.DriverLabel + "=" + deploy.Slug(c.inCluster(p.Driver)) + "," + deploy.PartLabel + "=node", FieldSelector: "spec.nodeName=" + p.Node,
	}
}

// stopContainers ends the containers of a plugin's pod on a node with a stopped kubelet. The
// kubelet ends the pod when it is back.
func (c *Cluster) stopContainers(p sim.Plugin) error {
	list, err := c.clients.CoreV1().Pods(c.namespace()).List(c.ctx, c.podsOf(p))
	if err != nil {
		return environment(err, "find the pod of the %s", p)
	}
	for _, pod := range list.Items {
		script := fmt.Sprintf("crictl stop --timeout 5 $(crictl ps -q --label io.kubernetes.pod.namespace=%s --label io.kubernetes.pod.name=%s)", pod.Namespace, pod.Name)
		if _, err := c.run(p.Node, "sh", "-c", script); err != nil {
			return err
		}
	}
	return nil
}

// readmit permits the plugin's pod to return to its node.
func (c *Cluster) readmit(p sim.Plugin) error {
	delete(c.evicted, c.evictable(p))
	if err := c.mark(c.ctx, p, ""); err != nil {
		return environment(err, "let driver %s back on %s", p.Driver, p.Node)
	}
	err := c.WaitFor(fmt.Sprintf("the pod of the %s to run", p), podTime, func() bool {
		there, err := c.proxies(c.ctx, p.Driver, "node", p.Node)
		return err == nil && len(there) > 0
	})
	if err == nil {
		err = c.injectAgain(p.Driver, "node", p.Node)
	}
	if err != nil {
		return err
	}
	return environment(c.calls.readNew(), "read the records of the %s", p)
}

// mark sets the node label that keeps a driver off; an empty value removes it.
func (c *Cluster) mark(ctx context.Context, p sim.Plugin, value string) error {
	text := "null"
	if value != "" {
		text = fmt.Sprintf("%q", value)
	}
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, deploy.AwayLabel(c.inCluster(p.Driver)), text)
	_, err := c.clients.CoreV1().Nodes().Patch(ctx, p.Node, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	return err
}

// readmitAll removes the remaining labels at the end.
func (c *Cluster) readmitAll(ctx context.Context) error {
	var all []sim.Plugin
	for p := range c.evicted {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b sim.Plugin) int {
		return slices.Compare([]string{a.Driver, a.Node}, []string{b.Driver, b.Node})
	})
	for _, p := range all {
		if err := c.mark(ctx, p, ""); err != nil {
			return err
		}
	}
	return nil
}

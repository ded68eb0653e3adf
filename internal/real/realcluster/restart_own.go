package realcluster

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/sim"
)

// deletePods deletes the pods of a node plugin from a driver's own manifests. Their workload
// creates new ones.
func (c *Cluster) deletePods(p sim.Plugin) error {
	there, err := c.proxies(c.ctx, p.Driver, "node", p.Node)
	if err != nil {
		return environment(err, "find the pod of the %s", p)
	}
	if len(there) == 0 {
		return noneRuns(p)
	}
	for _, at := range there {
		pod := made{resource: corev1.SchemeGroupVersion.WithResource("pods"), namespace: at.namespace, name: at.pod}
		err := c.delete(c.ctx, pod)
		if err == nil {
			err = c.gone(c.ctx, pod)
		}
		if err != nil {
			return environment(err, "restart the %s", p)
		}
	}
	return nil
}

// awaitStarted waits until a plugin of a driver with its own manifests serves again.
func (c *Cluster) awaitStarted(p sim.Plugin) error {
	var last error
	err := c.WaitFor(fmt.Sprintf("the %s to serve again", p), podTime, func() bool {
		last = c.order(p, "/driver/start")
		return last == nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return environment(c.calls.readNew(), "read the records of the %s", p)
}

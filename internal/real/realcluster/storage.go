package realcluster

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/mockprogram"
	"github.com/csisim/csisim/sim"
)

// ChangeNode changes the reference driver's answer to NodeGetInfo on a node, from the next call on.
func (c *Cluster) ChangeNode(driver, node string, info mock.NodeInfo) error {
	c.world.Trace.Note(node, "%s changes the information about its node", sim.Plugin{Driver: driver, Node: node})
	return c.orderBackend(driver, mockprogram.ChangeNodePath, mockprogram.ChangeNode{Node: node, Info: info})
}

// SetVolumeCondition makes a volume of the reference driver abnormal, or normal if message is
// empty.
func (c *Cluster) SetVolumeCondition(pv *corev1.PersistentVolume, message string) error {
	driver, handle, err := c.handleOf(pv)
	if err != nil {
		return err
	}
	return c.orderBackend(driver, mockprogram.SetConditionPath, mockprogram.SetCondition{Volume: handle, Message: message})
}

// Detach detaches a volume of the reference driver from a node without Kubernetes' knowledge.
func (c *Cluster) Detach(pv *corev1.PersistentVolume, node string) error {
	driver, handle, err := c.handleOf(pv)
	if err != nil {
		return err
	}
	id := c.nodeID(driver, node)
	c.world.Trace.Note(node, "volume %s detached from %s at the driver itself", handle, id)
	return c.orderBackend(driver, mockprogram.DetachPath, mockprogram.Detach{Volume: handle, Node: id})
}

// handleOf returns the driver and volume handle of a PersistentVolume. On a shared cluster the
// volume has another name.
func (c *Cluster) handleOf(pv *corev1.PersistentVolume) (driver, handle string, err error) {
	there, err := c.clients.CoreV1().PersistentVolumes().Get(c.ctx, c.volumeInCluster(pv.Name), metav1.GetOptions{})
	switch {
	case err != nil:
		return "", "", environment(err, "read volume %s", pv.Name)
	case there.Spec.CSI == nil:
		return "", "", &sim.ConfigError{Subject: fmt.Sprintf("volume %q", pv.Name), Problem: "it has no CSI source, so no driver knows it"}
	}
	return there.Spec.CSI.Driver, there.Spec.CSI.VolumeHandle, nil
}

// nodeID returns the id under which a node is registered.
func (c *Cluster) nodeID(driver, node string) string {
	if d := c.registered(driver, node); d != nil {
		return d.NodeID
	}
	return node
}

// orderBackend sends an order to the backend of the reference driver, bypassing Kubernetes.
func (c *Cluster) orderBackend(driver, path string, order any) error {
	doing := "reach the backend of " + driver
	port := c.driver(driver).Orders
	if port == 0 {
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", driver), Problem: "only the storage system of the reference driver can be reached"}
	}
	pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(c.ctx, c.podsOfRun(driver))
	if err != nil {
		return environment(err, "%s", doing)
	}
	for _, pod := range pods.Items {
		if isRunning(pod, deploy.BackendContainer) && pod.DeletionTimestamp == nil {
			_, err := c.ask(c.ctx, place{namespace: pod.Namespace, pod: pod.Name, port: port}, "POST", path, nil, order)
			return environment(err, "%s", doing)
		}
	}
	return environment(errors.New("its pod does not run"), "%s", doing)
}

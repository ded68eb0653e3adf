package sim

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/store"
)

// Life says how the instances of a container end that is a record: after how long, and with which
// exit code.
type Life = fakekubelet.Life

// ExitContainer ends a container of a pod as a process that exits with a code; the name may be
// empty where the pod has only one. The kubelet goes on as the pod's restart policy says. The
// container must be a record.
func (c *Simulation) ExitContainer(key store.Key, container string, code int) error {
	wrong := func(err error) error {
		return &ConfigError{strings.Join(strings.Fields("container "+container+" of pod "+key.Name), " "), err.Error()}
	}
	pod, found := store.Get[*corev1.Pod](c.World.Store, key)
	if !found || pod.Spec.NodeName == "" {
		return wrong(errors.New("the pod is not on a node"))
	}
	n, err := c.node(pod.Spec.NodeName)
	if err != nil {
		return err
	}
	if container == "" && len(pod.Spec.Containers) == 1 {
		container = pod.Spec.Containers[0].Name
	}
	c.note(n.Name, "container %s of pod %s exits with code %d", container, key.Name, code)
	if err := n.Runtime.Exit(pod, container, int32(code)); err != nil {
		return wrong(err)
	}
	if n.Kubelet != nil {
		n.Kubelet.ContainerExited(pod.UID)
	}
	return nil
}

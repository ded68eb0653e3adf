package sim

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/apiserver"
)

// logOf finds what a container writes. Containers that are records write nothing.
func (c *Simulation) logOf(pod *corev1.Pod, container string, previous bool) (apiserver.Log, error) {
	silent := apiserver.Log{Open: func() bool { return false }}
	n, err := c.node(pod.Spec.NodeName)
	if err != nil {
		return silent, fmt.Errorf("pod %s is not assigned to a node", pod.Name)
	}
	program := n.runtime.FindProgram(pod.UID, container)
	if program == nil {
		return silent, nil
	}
	instance := program.Now
	if previous && (program.Running() || !waits(pod, container)) {
		instance = program.Before
	}
	switch {
	case previous && instance == nil:
		return silent, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
	case instance == nil:
		return silent, fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", container, pod.Name)
	}
	return apiserver.Log{File: instance.Log, Open: func() bool { return instance.Finished.IsZero() }}, nil
}

// waits reports whether the latest instance of a container is the one before that which
// is still to come.
func waits(pod *corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == container && s.State.Waiting != nil
	})
}

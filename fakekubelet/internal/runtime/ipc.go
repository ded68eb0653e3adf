package runtime

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// ipcOf returns the IPC namespace of a pod's programs, nil for the node's. The first program
// creates it. It is also nil if csisim may not create namespaces.
func (r *Runtime) ipcOf(pod *corev1.Pod) (*machine.IPC, error) {
	s := r.sandboxes[pod.UID]
	switch {
	case pod.Spec.HostIPC:
		return nil, nil
	case s == nil:
		return nil, fmt.Errorf("pod %s has no sandbox", pod.Name)
	case s.ipc != nil:
		return s.ipc, nil
	}
	made, err := machine.NewIPC()
	if errors.Is(err, machine.ErrNoPermission) {
		return nil, nil
	}
	s.ipc = made
	return made, err
}

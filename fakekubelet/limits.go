package fakekubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// maxProcesses bounds the processes and threads of a container. Kubernetes leaves it to the node's
// administrator. Without a bound, a container that forks endlessly would exhaust the user's
// machine.
const maxProcesses = 4096

// limitsOf returns the limits of a container with resources.
func limitsOf(r corev1.ResourceRequirements) machine.Limits {
	return machine.Limits{Processes: maxProcesses, Memory: r.Limits.Memory().Value()}
}

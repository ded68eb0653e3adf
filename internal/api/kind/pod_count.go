package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxPods is how many pods a cluster holds: as many as Kubernetes is made for
// (https://kubernetes.io/docs/setup/best-practices/cluster-large). More of them, such as
// those of a slip of the finger, would fill the memory.
const MaxPods = 150_000

// roomForPod rejects one pod too many. In a real cluster its database would be full one day.
func roomForPod(there int, pod *corev1.Pod) error {
	if there < MaxPods {
		return nil
	}
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.GetName(), fmt.Errorf("a cluster has at most %d pods, and that many are there", MaxPods))
}

// replicas refuses a number of pods that is negative, or more than a cluster holds.
func replicas(at *field.Path, n int32) field.ErrorList {
	if n > MaxPods {
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("must be less than or equal to %d, the number of pods that a cluster has at most", MaxPods))}
	}
	return natural(at, int64(n))
}

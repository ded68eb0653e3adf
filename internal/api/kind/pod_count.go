package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxPods is the number of pods that Kubernetes supports in a cluster
// (https://kubernetes.io/docs/setup/best-practices/cluster-large). More, for example after a typing
// error, would fill the memory.
const MaxPods = 150_000

// roomForPod rejects a pod beyond the maximum. In a real cluster the database would fill up.
func roomForPod(there int, pod *corev1.Pod) error {
	if there < MaxPods {
		return nil
	}
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.GetName(), fmt.Errorf("a cluster has at most %d pods, and that many are there", MaxPods))
}

// replicas rejects a number of pods that is negative, or above the maximum.
func replicas(at *field.Path, n int32) field.ErrorList {
	if n > MaxPods {
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("must be less than or equal to %d, the number of pods that a cluster has at most", MaxPods))}
	}
	return natural(at, int64(n))
}

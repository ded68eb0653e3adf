package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/internal/world/store"
)

// nodeCapacity is the cause of an error if a pod requests more than the node has.
var nodeCapacity = metav1.StatusCause{Type: "NodeCapacity"}

// AllowResize rejects a resize that exceeds the pod's node, even without other pods. The check
// rejects invalid writes. [plugin/pkg/admission/podresize]
func AllowResize(cluster store.Reader, obj, before store.Object) error {
	pod, old := typed[*corev1.Pod](obj), typed[*corev1.Pod](before)
	if pod.Spec.NodeName == "" || equality.Semantic.DeepEqual(pod.Spec, old.Spec) || len(CheckResize(obj, before)) > 0 {
		return nil
	}
	forbidden := func(format string, args ...any) *apierrors.StatusError {
		return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf(format, args...))
	}
	node, found := store.Get[*corev1.Node](cluster, store.Key{Name: pod.Spec.NodeName})
	if !found {
		return forbidden("node %q not found", pod.Spec.NodeName)
	}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	var missing []string
	if cpu, most := requests.Cpu(), node.Status.Allocatable.Cpu(); cpu.Cmp(*most) > 0 {
		missing = append(missing, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), most.MilliValue()))
	}
	if memory, most := requests.Memory(), node.Status.Allocatable.Memory(); memory.Cmp(*most) > 0 {
		missing = append(missing, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), most.Value()))
	}
	if len(missing) == 0 {
		return nil
	}
	err := forbidden("node didn't have enough allocatable resources: %s", strings.Join(missing, "; "))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, nodeCapacity)
	return err
}

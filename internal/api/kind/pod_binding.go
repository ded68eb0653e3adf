package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// Binding assigns a pod to a node.
type Binding struct {
	Pod  store.Key
	Node string
	// UID makes the binding a Conflict if the pod has another uid. Default: any.
	UID types.UID
	// ResourceVersion makes the binding a Conflict if the pod has another resource version.
	// Default: any.
	ResourceVersion string
	// Annotations and Labels are added to those of the pod.
	Annotations, Labels map[string]string
	// DryRun checks everything, and stores nothing.
	DryRun bool
}

// BindPod assigns a pod to a node as the binding subresource does: it sets the
// node's name, the PodScheduled condition and the node's topology labels. A pod
// that is being deleted, gated or assigned already is a Conflict.
func BindPod(s *store.Store, b Binding) (*corev1.Pod, error) {
	res := resourceOf[*corev1.Pod]()
	old, ok := store.Get[*corev1.Pod](s, b.Pod)
	if !ok {
		return nil, res.NotFound(b.Pod)
	}
	if err := res.CheckUID(b.Pod, old, b.UID); err != nil {
		return nil, err
	}
	if err := res.CheckGivenVersion(b.Pod, old, b.ResourceVersion); err != nil {
		return nil, err
	}
	if err := bindable(old); err != nil {
		return nil, apierrors.NewConflict(corev1.Resource("pods/binding"), b.Pod.Name, err)
	}
	pod := store.Fork(old)
	pod.Spec.NodeName = b.Node
	old.Status.DeepCopyInto(&pod.Status)
	pod.Status.NominatedNodeName = ""
	for key, value := range b.Annotations { // any order: keys are independent
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
	}
	for key, value := range b.Labels { // any order: keys are independent
		metav1.SetMetaDataLabel(&pod.ObjectMeta, key, value)
	}
	copyTopology(s, pod)
	setScheduled(&pod.Status, s.Timestamp())
	if !b.DryRun {
		s.Commit(res, b.Pod, old, pod)
	}
	return pod, nil
}

func bindable(pod *corev1.Pod) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", pod.Name)
	}
	return nil
}

// copyTopology copies the region and zone of its node to a pod.
func copyTopology(cluster store.Reader, pod *corev1.Pod) {
	node, ok := store.Get[*corev1.Node](cluster, store.Key{Name: pod.Spec.NodeName})
	if !ok {
		return
	}
	for _, label := range []string{corev1.LabelTopologyRegion, corev1.LabelTopologyZone} {
		if value, ok := node.Labels[label]; ok {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, label, value)
		}
	}
}

func setScheduled(status *corev1.PodStatus, now metav1.Time) {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now}
	for i := range status.Conditions {
		if status.Conditions[i].Type == corev1.PodScheduled {
			status.Conditions[i] = scheduled
			return
		}
	}
	status.Conditions = append(status.Conditions, scheduled)
}

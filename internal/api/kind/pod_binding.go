package store

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BindPod assigns a pod to a node as the binding subresource does: it sets the
// node's name, the PodScheduled condition and the node's topology labels. A pod
// that is being deleted, gated or assigned already is a Conflict.
func BindPod(s *Store, key Key, nodeName string, opts ...WriteOption) (*corev1.Pod, error) {
	w := writingOf(opts)
	res := resourceFor[*corev1.Pod]()
	old, ok := Get[*corev1.Pod](s, key)
	if !ok {
		return nil, res.notFound(key)
	}
	if err := res.checkUID(key, old, w.uid); err != nil {
		return nil, err
	}
	if err := bindable(old); err != nil {
		return nil, apierrors.NewConflict(corev1.Resource("pods/binding"), key.Name, err)
	}
	pod := Fork(old)
	pod.Spec.NodeName = nodeName
	old.Status.DeepCopyInto(&pod.Status)
	pod.Status.NominatedNodeName = ""
	copyTopology(s.head, pod)
	setScheduled(&pod.Status, s.now())
	if !w.dry {
		s.commit(res, key, old, pod)
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

// copyTopology gives a pod the region and zone of its node.
func copyTopology(cluster Reader, pod *corev1.Pod) {
	node, ok := Get[*corev1.Node](cluster, Key{Name: pod.Spec.NodeName})
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

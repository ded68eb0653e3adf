package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

const (
	clusterCritical = "system-cluster-critical"
	nodeCritical    = "system-node-critical"
)

// systemPriorities are the values of the classes of every cluster.
var systemPriorities = map[string]int32{clusterCritical: 2000000000, nodeCritical: 2000001000}

// SystemPriorityClasses returns the classes that the API server makes when it starts.
// [pkg/apis/scheduling/v1 systemPriorityClasses]
func SystemPriorityClasses() []*schedulingv1.PriorityClass {
	class := func(name, description string) *schedulingv1.PriorityClass {
		return &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: systemPriorities[name], Description: description,
		}
	}
	return []*schedulingv1.PriorityClass{
		class(nodeCritical, "Used for system critical pods that must not be moved from their current node."),
		class(clusterCritical, "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."),
	}
}

// setPriority copies the priority and preemption policy of a pod's class into the pod, as the
// admission plugin Priority does.
// [plugin/pkg/admission/priority admitPod]
func setPriority(cluster store.Reader, pod *corev1.Pod) error {
	class, err := priorityOf(cluster, pod.Spec.PriorityClassName)
	if err != nil {
		return refusedPod(pod, err)
	}
	pod.Spec.PriorityClassName = class.Name
	if given := pod.Spec.Priority; given != nil && *given != class.Value {
		return refusedPod(pod, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; "+
			"priority admission controller computed %d from the given PriorityClass name", *given, class.Value))
	}
	pod.Spec.Priority = new(class.Value)
	if class.PreemptionPolicy == nil {
		return nil
	}
	if given := pod.Spec.PreemptionPolicy; given != nil && *given != *class.PreemptionPolicy {
		return refusedPod(pod, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; "+
			"priority admission controller computed %s from the given PriorityClass name", *given, *class.PreemptionPolicy))
	}
	pod.Spec.PreemptionPolicy = new(*class.PreemptionPolicy)
	return nil
}

// keepPriority keeps the old priority and preemption policy if an update omits them.
func keepPriority(pod, old *corev1.Pod) {
	if pod.Spec.Priority == nil {
		pod.Spec.Priority = old.Spec.Priority
	}
	if pod.Spec.PreemptionPolicy == nil {
		pod.Spec.PreemptionPolicy = old.Spec.PreemptionPolicy
	}
}

// refusedPod returns the error of an admission plugin.
func refusedPod(pod *corev1.Pod, err error) error {
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, err)
}

// priorityOf returns the class with a name. An empty name selects the global default; without a
// global default the priority is 0.
func priorityOf(cluster store.Reader, name string) (*schedulingv1.PriorityClass, error) {
	usual := &schedulingv1.PriorityClass{PreemptionPolicy: new(corev1.PreemptLowerPriority)}
	if name == "" {
		if class := defaultPriorityClass(cluster); class != nil {
			return class, nil
		}
		return usual, nil
	}
	if class, ok := store.Get[*schedulingv1.PriorityClass](cluster, store.Key{Name: name}); ok {
		return class, nil
	}
	if value, ok := systemPriorities[name]; ok {
		usual.Name, usual.Value = name, value
		return usual, nil
	}
	return nil, fmt.Errorf("no PriorityClass with name %s was found", name)
}

// defaultPriorityClass returns the global default; if there are several, the one with the lowest
// value.
func defaultPriorityClass(cluster store.Reader) (found *schedulingv1.PriorityClass) {
	for class := range store.List[*schedulingv1.PriorityClass](cluster, "") {
		if class.GlobalDefault && (found == nil || found.Value > class.Value) {
			found = class
		}
	}
	return found
}

package kind

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/csisim/csisim/internal/world/store"
)

// applyRuntimeClass gives a pod the overhead, the node selector and the tolerations of its class,
// as the admission plugin RuntimeClass does. [plugin/pkg/admission/runtimeclass Admit, Validate]
func applyRuntimeClass(cluster store.Reader, pod *corev1.Pod) error {
	class := &nodev1.RuntimeClass{}
	if name := pod.Spec.RuntimeClassName; name != nil {
		found, ok := store.Get[*nodev1.RuntimeClass](cluster, store.Key{Name: *name})
		if !ok {
			return refusedPod(pod, fmt.Errorf("pod rejected: RuntimeClass %q not found", *name))
		}
		class = found
	}
	if err := setOverhead(class.Overhead, &pod.Spec); err != nil {
		return refusedPod(pod, err)
	}
	if class.Scheduling == nil {
		return nil
	}
	if err := mergeNodeSelector(class.Scheduling.NodeSelector, &pod.Spec); err != nil {
		return refusedPod(pod, err)
	}
	mergeTolerations(class.Scheduling.Tolerations, &pod.Spec)
	return nil
}

func setOverhead(overhead *nodev1.Overhead, spec *corev1.PodSpec) error {
	switch {
	case overhead == nil && spec.Overhead != nil:
		return errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	case overhead == nil:
		return nil
	case len(spec.Overhead) > 0 && !apiequality.Semantic.DeepEqual(overhead.PodFixed, spec.Overhead):
		return errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	}
	spec.Overhead = overhead.PodFixed.DeepCopy()
	return nil
}

func mergeNodeSelector(labels map[string]string, spec *corev1.PodSpec) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value, ok := spec.NodeSelector[key]; ok && value != labels[key] {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s",
				key, labels[key], key, value)
		}
	}
	if spec.NodeSelector == nil && len(labels) > 0 {
		spec.NodeSelector = map[string]string{}
	}
	maps.Copy(spec.NodeSelector, labels)
	return nil
}

// mergeTolerations adds tolerations, and drops those that another one includes.
// [pkg/util/tolerations MergeTolerations]
func mergeTolerations(more []corev1.Toleration, spec *corev1.PodSpec) {
	all := slices.Concat(spec.Tolerations, more)
	var merged []corev1.Toleration
	for i, t := range all {
		isIncluded := func(other corev1.Toleration) bool { return includes(other, t) }
		isLarger := func(later corev1.Toleration) bool {
			return !apiequality.Semantic.DeepEqual(t, later) && includes(later, t)
		}
		if !slices.ContainsFunc(merged, isIncluded) && !slices.ContainsFunc(all[i+1:], isLarger) {
			merged = append(merged, t)
		}
	}
	spec.Tolerations = merged
}

// includes reports whether a toleration tolerates everything that another one does.
func includes(larger, t corev1.Toleration) bool {
	switch {
	case apiequality.Semantic.DeepEqual(t, larger):
		return true
	case t.Key != larger.Key && (larger.Key != "" || larger.Operator != corev1.TolerationOpExists):
		return false
	case t.Effect != larger.Effect && larger.Effect != "":
		return false
	case larger.Effect == corev1.TaintEffectNoExecute && larger.TolerationSeconds != nil &&
		(t.TolerationSeconds == nil || *t.TolerationSeconds > *larger.TolerationSeconds):
		return false
	case larger.Operator == corev1.TolerationOpEqual || larger.Operator == "":
		return t.Operator == corev1.TolerationOpEqual && t.Value == larger.Value
	}
	return larger.Operator == corev1.TolerationOpExists
}

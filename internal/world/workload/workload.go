// Package workload is the common code of the controllers of replicated pods and of services.
package workload

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/csisim/csisim/internal/world/store"
)

// Ready reports whether a pod runs and is ready.
func Ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && Holds(pod, corev1.PodReady)
}

// AvailableIn returns the time until a pod has been ready for minReadySeconds and is therefore
// available. It is 0 if the pod is available now, and negative if it is not ready.
// [pkg/api/v1/pod/util.go IsPodAvailable]
func AvailableIn(pod *corev1.Pod, minReadySeconds int32, now time.Time) time.Duration {
	if !Ready(pod) {
		return -1
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && minReadySeconds > 0 {
			return max(0, c.LastTransitionTime.Add(time.Duration(minReadySeconds)*time.Second).Sub(now))
		}
	}
	return 0
}

// Holds reports whether a condition of a pod is true, in any phase.
func Holds(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

// Ended reports whether a pod has reached its final phase.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Owner returns the object of a kind that controls another; false for none.
func Owner(of store.Object, kind string) (key store.Key, uid types.UID, ok bool) {
	owner := metav1.GetControllerOf(of)
	if owner == nil || owner.Kind != kind {
		return store.Key{}, "", false
	}
	return store.Key{Namespace: of.GetNamespace(), Name: owner.Name}, owner.UID, true
}

// Hash returns a short name for a pod template. Different templates have different names.
func Hash(template *corev1.PodTemplateSpec) string {
	text, err := json.Marshal(template)
	if err != nil {
		panic("workload: " + err.Error()) // a pod template is JSON
	}
	hash := fnv.New32a()
	_, _ = hash.Write(text) // never fails
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

// Pod returns a new pod of an owner, made from a template.
func Pod(owner store.Object, kind schema.GroupVersionKind, template *corev1.PodTemplateSpec) *corev1.Pod {
	t := template.DeepCopy()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), GenerateName: owner.GetName() + "-",
			Labels: maps.Clone(t.Labels), Annotations: t.Annotations, Finalizers: t.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: t.Spec,
	}
}

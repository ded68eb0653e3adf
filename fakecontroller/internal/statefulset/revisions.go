package statefulset

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// revisions holds the current template of the pods, and the updated one.
type revisions struct {
	current, update *appsv1.ControllerRevision
}

// forNew returns the template for a new pod. Below the partition it is the current template.
func (r revisions) forNew(set *appsv1.StatefulSet, n int) *appsv1.ControllerRevision {
	if rolls(set) && n < firstUpdated(set) {
		return r.current
	}
	return r.update
}

func rolls(set *appsv1.StatefulSet) bool {
	return set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType
}

// firstUpdated returns the lowest ordinal that a rolling update changes.
func firstUpdated(set *appsv1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return start(set) + int(*rolling.Partition)
	}
	return start(set)
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }

// revisionsOf finds a set's revisions, and records a new template.
func (c *Controller) revisionsOf(p *kernel.Process, set *appsv1.StatefulSet) (revisions, error) {
	var r revisions
	fresh, err := revisionFor(set)
	if err != nil {
		return r, err
	}
	for old := range store.Indexed[*appsv1.ControllerRevision](c.Cache, store.OwnerUID, string(set.UID)) {
		fresh.Revision = max(fresh.Revision, old.Revision+1)
		if equality.Semantic.DeepEqual(old.Data.Raw, fresh.Data.Raw) {
			r.update = old
		}
		if old.Name == set.Status.CurrentRevision {
			r.current = old
		}
	}
	if r.update != nil && r.update.Revision < fresh.Revision-1 { // the set was rolled back
		again := r.update.DeepCopy()
		again.Revision = fresh.Revision
		if r.update, err = component.Update(p, c.Component, again); err != nil {
			return r, err
		}
	}
	if r.update == nil {
		r.update, err = component.Create(p, c.Component, fresh)
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return r, err
		}
		if err != nil {
			r.update = fresh
		}
	}
	if r.current == nil {
		r.current = r.update
	}
	return r, nil
}

func revisionFor(set *appsv1.StatefulSet) (*appsv1.ControllerRevision, error) {
	data, err := workload.Record(set.Spec.Template)
	if err != nil {
		return nil, fmt.Errorf("template of set %s: %w", set.Name, err)
	}
	hash := fnv.New32()
	hash.Write(data)
	sum := rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	labels := map[string]string{}
	maps.Copy(labels, set.Spec.Template.Labels) // kubectl rollout finds revisions by these labels
	labels["controller.kubernetes.io/hash"] = sum
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-" + sum,
			Labels:          labels,
			Annotations:     maps.Clone(set.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: 1,
	}, nil
}

// writeStatus counts the pods from the beginning of the sync.
func (c *Controller) writeStatus(p *kernel.Process, set *appsv1.StatefulSet, r revisions, pods map[int]*corev1.Pod) error {
	status := c.statusOf(set, r, pods)
	if equality.Semantic.DeepEqual(status, set.Status) {
		return nil
	}
	changed := set.DeepCopy()
	changed.Status = status
	_, err := component.UpdateStatus(p, c.Component, changed)
	return err
}

func (c *Controller) statusOf(set *appsv1.StatefulSet, r revisions, pods map[int]*corev1.Pod) appsv1.StatefulSetStatus {
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation, CollisionCount: set.Status.CollisionCount,
		CurrentRevision: r.current.Name, UpdateRevision: r.update.Name, Conditions: slices.Clone(set.Status.Conditions),
	}
	for _, n := range sortedDown(pods) {
		pod := pods[n]
		status.Replicas++
		if workload.Ready(pod) {
			status.ReadyReplicas++
		}
		if c.availableIn(set, pod) == 0 {
			status.AvailableReplicas++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		if revisionOf(pod) == r.current.Name {
			status.CurrentReplicas++
		}
		if revisionOf(pod) == r.update.Name {
			status.UpdatedReplicas++
		}
	}
	if rolls(set) && status.UpdatedReplicas == *set.Spec.Replicas && status.ReadyReplicas == status.Replicas {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
	}
	return status
}

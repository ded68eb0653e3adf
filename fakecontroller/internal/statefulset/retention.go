package statefulset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

var (
	setKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

// retention holds the events at which the claims of a set are deleted.
type retention struct{ whenDeleted, whenScaled bool }

// retentionOf returns the retention policy of a set. C-STS-1
func (c *Controller) retentionOf(set *appsv1.StatefulSet) retention {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || !c.Version.Has(version.ClaimRetention) {
		return retention{}
	}
	const toDelete = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	return retention{policy.WhenDeleted == toDelete, policy.WhenScaled == toDelete}
}

// ownClaims sets the owners of a pod's claims by the retention policy. The garbage collector
// deletes a claim with its last owner. It reports whether a claim was changed. C-STS-2
func (c *Controller) ownClaims(p *kernel.Process, set *appsv1.StatefulSet, n int, pod *corev1.Pod) (changed bool, err error) {
	if !c.Version.Has(version.ClaimRetention) {
		return false, nil
	}
	for i := range set.Spec.VolumeClaimTemplates {
		key := store.Key{Namespace: set.Namespace, Name: claimName(set, &set.Spec.VolumeClaimTemplates[i], n)}
		claim, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
		if !ok {
			continue // the next round retries this
		}
		owners, conflict := c.ownersFor(claim, set, pod, isWanted(set, n))
		if equality.Semantic.DeepEqual(owners, claim.OwnerReferences) {
			continue
		}
		if conflict {
			c.Event(set, corev1.EventTypeWarning, "ConflictingController",
				"PersistentVolumeClaim %s has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim", claim.Name)
		}
		claim = claim.DeepCopy()
		claim.OwnerReferences = owners
		if _, err := component.Update(p, c.Component, claim); err != nil {
			return changed, fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err)
		}
		changed = true
	}
	return changed, nil
}

// ownersFor returns the owners that a claim should have, and whether the claim has another
// controller. C-STS-2
func (c *Controller) ownersFor(claim *corev1.PersistentVolumeClaim, set *appsv1.StatefulSet, pod *corev1.Pod, wanted bool) (owners []metav1.OwnerReference, conflict bool) {
	if isStale(claim, set, setKind) || isStale(claim, pod, podKind) {
		return claim.OwnerReferences, false // the claim belongs to an earlier set or pod
	}
	policy := c.retentionOf(set)
	for _, owner := range claim.OwnerReferences {
		if !refersTo(owner, set, setKind) && !refersTo(owner, pod, podKind) {
			owners = append(owners, owner)
			conflict = conflict || owner.Controller != nil && *owner.Controller
		}
	}
	conflict = conflict && policy != (retention{})
	switch {
	case conflict:
	case policy.whenScaled && !wanted:
		owners = append(owners, *metav1.NewControllerRef(pod, podKind))
	case policy.whenDeleted:
		owners = append(owners, *metav1.NewControllerRef(set, setKind))
	}
	return owners, conflict
}

// hasStaleClaim reports whether a claim of an ordinal is deleted with an earlier pod. A new pod
// then has to wait. C-STS-3
func (c *Controller) hasStaleClaim(set *appsv1.StatefulSet, n int) bool {
	if !c.retentionOf(set).whenScaled {
		return false
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: podName(set, n)}}
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		claim, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, store.Key{Namespace: set.Namespace, Name: claimName(set, &template, n)})
		return ok && isStale(claim, pod, podKind)
	})
}

// isStale reports whether the owner of a claim is another object of the same name.
func isStale(claim *corev1.PersistentVolumeClaim, owner store.Object, kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(r metav1.OwnerReference) bool {
		return refersTo(r, owner, kind) && r.UID != owner.GetUID()
	})
}

func refersTo(r metav1.OwnerReference, owner store.Object, kind schema.GroupVersionKind) bool {
	return r.APIVersion == kind.GroupVersion().String() && r.Kind == kind.Kind && r.Name == owner.GetName()
}

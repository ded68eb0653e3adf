package scheduler

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workload"
)

// attempt holds the facts about a pod that do not depend on a node.
type attempt struct {
	pod         *corev1.Pod
	affinity    *nodeaffinity.RequiredNodeAffinity // nil if the pod may use any node
	together    []neighbourTerm
	apart       []neighbourTerm
	neighbours  *neighbourhood // nil until its first use
	claims      []store.Key
	bound       []*corev1.PersistentVolumeClaim
	delayed     []delayedClaim                      // the scheduler decides about their binding
	exclusive   []store.Key                         // claims that are ReadWriteOncePod. C-SCHED-50
	disks       []*corev1.Volume                    // in-tree, in the pod itself. C-SCHED-51
	wanted      map[string]map[string]bool          // CSI volumes by driver. C-SCHED-22
	fixedVolume map[string]*corev1.PersistentVolume // of the bound claims
	requests    amounts                             // of resources
	ports       []workload.HostPort                 // of the node. C-SCHED-62
	spreads     []spreadTerm                        // C-SCHED-61
	spread      *spread                             // nil until its first use
}

// delayedClaim is a claim with a binding that waits for the choice of a node.
type delayedClaim struct {
	claim      *corev1.PersistentVolumeClaim
	class      *storagev1.StorageClass
	candidates []*corev1.PersistentVolume
}

// unboundClaims is the message of the real scheduler.
const unboundClaims = "pod has unbound immediate PersistentVolumeClaims"

// consider examines a pod's claims. C-SCHED-1
func (s *Scheduler) consider(pod *corev1.Pod) (*attempt, refusal) {
	a := &attempt{pod: pod, together: togetherTerms(pod), apart: apartTerms(pod), claims: claimsOf(pod), disks: disksOf(pod), requests: requestsOf(pod), ports: workload.HostPorts(pod), spreads: spreadTerms(pod)}
	if constrained(pod) {
		affinity := nodeaffinity.GetRequiredNodeAffinity(pod)
		a.affinity = &affinity
	}
	for i := range pod.Spec.Volumes {
		key, ephemeral, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
		if !ok {
			continue
		}
		claim, ok := s.claims.Get(key)
		if why := unusable(pod, claim, ok, key, ephemeral); why != "" {
			return nil, refusal{claimsOfPod, why, true}
		}
		if !ephemeral && isExclusive(claim) {
			a.exclusive = append(a.exclusive, key)
		}
		if !s.sort(a, claim) {
			return nil, refusal{claimsOfPod, unboundClaims, true}
		}
	}
	s.sortDelayed(a)
	s.lookUpVolumes(a)
	return a, refusal{}
}

func constrained(pod *corev1.Pod) bool {
	return len(pod.Spec.NodeSelector) > 0 || (pod.Spec.Affinity != nil && pod.Spec.Affinity.NodeAffinity != nil)
}

// unusable returns the reason why a pod cannot use a claim; "" if it can.
func unusable(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, exists bool, key store.Key, ephemeral bool) string {
	switch {
	case !exists && ephemeral:
		return fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", key.Name)
	case !exists:
		return fmt.Sprintf("persistentvolumeclaim %q not found", key.Name)
	case claim.Status.Phase == corev1.ClaimLost:
		return fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", key.Name, claim.Spec.VolumeName)
	case claim.DeletionTimestamp != nil:
		return fmt.Sprintf("persistentvolumeclaim %q is being deleted", key.Name)
	case ephemeral && !metav1.IsControlledBy(claim, pod):
		return fmt.Sprintf("PVC %s was not created for pod %s (pod is not owner)", key, store.KeyOf(pod))
	}
	return ""
}

func isExclusive(claim *corev1.PersistentVolumeClaim) bool {
	for _, mode := range claim.Spec.AccessModes {
		if mode == corev1.ReadWriteOncePod {
			return true
		}
	}
	return false
}

// sort adds a claim to the bound or the delayed claims, and returns false if it is neither.
func (s *Scheduler) sort(a *attempt, claim *corev1.PersistentVolumeClaim) bool {
	if fullyBound(claim) {
		a.bound = append(a.bound, claim)
		return true
	}
	if claim.Spec.VolumeName != "" {
		return false
	}
	class, ok := component.Cached[*storagev1.StorageClass](s.Component, store.Key{Name: storagevolume.GetPersistentVolumeClaimClass(claim)})
	if !ok || class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return false
	}
	for _, known := range a.delayed {
		if known.claim.UID == claim.UID {
			return true
		}
	}
	a.delayed = append(a.delayed, delayedClaim{claim: claim, class: class})
	return true
}

func fullyBound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Spec.VolumeName != "" && metav1.HasAnnotation(claim.ObjectMeta, storagevolume.AnnBindCompleted)
}

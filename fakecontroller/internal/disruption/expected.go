package disruption

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// expectation holds the expected number of pods, and the required number of healthy pods.
type expectation struct {
	pods, healthy int32
	unmanaged     bool // some pods have no controller with a desired number
}

// expect computes the number of pods that a budget expects. For an absolute minimum of available
// pods it needs no workloads.
func (c *Controller) expect(b budget, pods []*corev1.Pod) (expectation, error) {
	if least := b.Spec.MinAvailable; b.Spec.MaxUnavailable == nil && least != nil && least.Type == intstr.Int {
		return expectation{pods: int32(len(pods)), healthy: least.IntVal}, nil
	}
	all, unmanaged, err := c.scale(pods)
	if err != nil {
		return expectation{}, err
	}
	wanted := expectation{pods: all, unmanaged: unmanaged}
	switch {
	case b.Spec.MaxUnavailable != nil:
		down, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, int(all), true)
		wanted.healthy = max(0, all-int32(down))
		return wanted, err
	case b.Spec.MinAvailable != nil:
		up, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, int(all), true)
		wanted.healthy = int32(up)
		return wanted, err
	}
	return expectation{}, nil
}

// scale returns the sum of the desired replicas of these pods' controllers.
func (c *Controller) scale(pods []*corev1.Pod) (all int32, unmanaged bool, err error) {
	seen := map[types.UID]bool{}
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if owner == nil {
			unmanaged = true
			continue
		}
		uid, replicas, ok := c.scaleOf(owner, pod.Namespace)
		if !ok {
			return 0, unmanaged, fmt.Errorf("found no controllers for pod %q", pod.Name)
		}
		if !seen[uid] {
			all += replicas
		}
		seen[uid] = true
	}
	return all, unmanaged, nil
}

// scaleOf returns the source of the expected number of pods: a stateful set, a replica set, or the
// deployment behind it.
func (c *Controller) scaleOf(owner *metav1.OwnerReference, namespace string) (types.UID, int32, bool) {
	key := store.Key{Namespace: namespace, Name: owner.Name}
	switch owner.Kind {
	case "StatefulSet":
		if set, ok := component.Cached[*appsv1.StatefulSet](c.Component, key); ok && set.UID == owner.UID {
			return set.UID, *set.Spec.Replicas, true
		}
	case "ReplicaSet":
		set, ok := component.Cached[*appsv1.ReplicaSet](c.Component, key)
		if !ok || set.UID != owner.UID {
			return "", 0, false
		}
		if above := metav1.GetControllerOf(set); above != nil && above.Kind == "Deployment" {
			return c.scaleOf(above, namespace)
		}
		return set.UID, *set.Spec.Replicas, true
	case "Deployment":
		if d, ok := component.Cached[*appsv1.Deployment](c.Component, key); ok && d.UID == owner.UID {
			return d.UID, *d.Spec.Replicas, true
		}
	}
	return "", 0, false
}

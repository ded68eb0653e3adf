package deployment

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// step changes the size of one set, or removes sets beyond the history limit.
func (c *Controller) step(p *kernel.Process, r *rollout) error {
	if s, size := r.next(); s != nil {
		return c.resize(p, r, s, size)
	}
	for _, s := range r.forgotten() {
		if _, err := component.Delete[*appsv1.ReplicaSet](p, c.Component, store.KeyOf(s), store.PreconditionUID(s.UID)); err != nil {
			return err
		}
	}
	return nil
}

// next returns the set to be resized now, nil if there is none.
func (r *rollout) next() (*appsv1.ReplicaSet, int32) {
	wanted := *r.Spec.Replicas
	surge, unavailable := r.limits()
	if r.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return r.recreate(wanted)
	}
	if size := *r.fresh.Spec.Replicas; size > wanted {
		return r.fresh, wanted
	} else if free := wanted + surge - r.asked(); size < wanted && free > 0 {
		return r.fresh, size + min(free, wanted-size)
	}
	freshDown := *r.fresh.Spec.Replicas - r.fresh.Status.AvailableReplicas
	spare := r.asked() - (wanted - unavailable) - freshDown
	for _, s := range r.old { // first the sets with pods that are down anyway
		if down := *s.Spec.Replicas - s.Status.AvailableReplicas; down > 0 && spare > 0 {
			return s, *s.Spec.Replicas - min(down, spare)
		}
	}
	spare = r.available() - (wanted - unavailable)
	for _, s := range r.old {
		if size := *s.Spec.Replicas; size > 0 && spare > 0 {
			return s, size - min(size, spare)
		}
	}
	return nil, 0
}

// recreate ends all old pods before it creates new ones.
func (r *rollout) recreate(wanted int32) (*appsv1.ReplicaSet, int32) {
	left := int32(0)
	for _, s := range r.old {
		if *s.Spec.Replicas > 0 {
			return s, 0
		}
		left += s.Status.Replicas
	}
	if left == 0 && *r.fresh.Spec.Replicas != wanted {
		return r.fresh, wanted
	}
	return nil, 0
}

// limits returns how many pods may exist beyond the desired number, and how many may be missing.
func (r *rollout) limits() (surge, unavailable int32) {
	wanted := int(*r.Spec.Replicas)
	scaled := func(value *intstr.IntOrString, up bool) int32 {
		n, err := intstr.GetScaledValueFromIntOrPercent(value, wanted, up)
		if value == nil || err != nil {
			return 0
		}
		return int32(n)
	}
	if rolling := r.Spec.Strategy.RollingUpdate; rolling != nil {
		surge, unavailable = scaled(rolling.MaxSurge, true), scaled(rolling.MaxUnavailable, false)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1 // otherwise no pod would ever be replaced
	}
	return surge, unavailable
}

func (r *rollout) sets() []*appsv1.ReplicaSet { return append(r.old[:len(r.old):len(r.old)], r.fresh) }

func (r *rollout) asked() (n int32) {
	for _, s := range r.sets() {
		n += *s.Spec.Replicas
	}
	return n
}

func (r *rollout) available() (n int32) {
	for _, s := range r.sets() {
		n += s.Status.AvailableReplicas
	}
	return n
}

// forgotten returns the oldest sets without pods beyond the history limit.
func (r *rollout) forgotten() []*appsv1.ReplicaSet {
	if r.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	var empty []*appsv1.ReplicaSet
	for _, s := range r.old {
		if *s.Spec.Replicas == 0 && s.Status.Replicas == 0 {
			empty = append(empty, s)
		}
	}
	return empty[:max(0, len(empty)-int(*r.Spec.RevisionHistoryLimit))]
}

func (c *Controller) resize(p *kernel.Process, r *rollout, s *appsv1.ReplicaSet, size int32) error {
	before, way := *s.Spec.Replicas, "up"
	if size < before {
		way = "down"
	}
	changed := s.DeepCopy()
	changed.Spec.Replicas = &size
	if _, err := component.Update(p, c.Component, changed); err != nil {
		return err
	}
	c.Event(r.Deployment, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", way, s.Name, before, size)
	return nil
}

func (r *rollout) status(now metav1.Time) appsv1.DeploymentStatus {
	status := appsv1.DeploymentStatus{
		ObservedGeneration: r.Generation, CollisionCount: r.Status.CollisionCount, UpdatedReplicas: r.fresh.Status.Replicas,
	}
	for _, s := range r.sets() {
		status.Replicas += s.Status.Replicas
		status.ReadyReplicas += s.Status.ReadyReplicas
		status.AvailableReplicas += s.Status.AvailableReplicas
	}
	wanted := *r.Spec.Replicas
	status.UnavailableReplicas = max(0, max(wanted, r.asked())-status.AvailableReplicas)
	_, unavailable := r.limits()
	status.Conditions = r.Status.Conditions
	if status.AvailableReplicas >= wanted-unavailable {
		status.Conditions = r.with(status.Conditions, now, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		status.Conditions = r.with(status.Conditions, now, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	status.Conditions = r.progress(&status, now)
	return status
}

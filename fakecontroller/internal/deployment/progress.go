package deployment

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of the condition Progressing. [pkg/controller/deployment/util]
const (
	setCreated  = "NewReplicaSetCreated"
	setUpdated  = "ReplicaSetUpdated"
	setComplete = "NewReplicaSetAvailable"
	timedOut    = "ProgressDeadlineExceeded"
)

// hasDeadline reports whether a deployment has a progress deadline.
func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

func conditionOf(all []appsv1.DeploymentCondition, t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	if i := slices.IndexFunc(all, func(c appsv1.DeploymentCondition) bool { return c.Type == t }); i >= 0 {
		return &all[i]
	}
	return nil
}

// with returns the conditions with a new condition at the end. A condition with the same status and
// reason is not changed.
func (r *rollout) with(all []appsv1.DeploymentCondition, now metav1.Time, t appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) []appsv1.DeploymentCondition {
	c := appsv1.DeploymentCondition{Type: t, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
	if was := conditionOf(all, t); was != nil {
		if was.Status == status && was.Reason == reason {
			return all
		}
		if was.Status == status {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
	return append(without(all, t), c)
}

func without(all []appsv1.DeploymentCondition, t appsv1.DeploymentConditionType) []appsv1.DeploymentCondition {
	return slices.DeleteFunc(slices.Clone(all), func(c appsv1.DeploymentCondition) bool { return c.Type == t })
}

// progress returns the conditions with a condition about the rollout's progress: the rollout is
// complete, has advanced, or has exceeded its deadline. C-DEP-1
// [pkg/controller/deployment/progress.go syncRolloutStatus]
func (r *rollout) progress(status *appsv1.DeploymentStatus, now metav1.Time) []appsv1.DeploymentCondition {
	all, was := status.Conditions, conditionOf(r.Status.Conditions, appsv1.DeploymentProgressing)
	say := func(status corev1.ConditionStatus, reason, what string) []appsv1.DeploymentCondition {
		return r.with(all, now, appsv1.DeploymentProgressing, status, reason, fmt.Sprintf("ReplicaSet %q %s.", r.fresh.Name, what))
	}
	switch {
	case !hasDeadline(r.Deployment):
		return without(all, appsv1.DeploymentProgressing)
	case status.Replicas == status.UpdatedReplicas && was != nil && was.Reason == setComplete:
		return all
	case r.complete(status):
		return say(corev1.ConditionTrue, setComplete, "has successfully progressed")
	case r.advanced(status):
		all = without(all, appsv1.DeploymentProgressing)
		all = say(corev1.ConditionTrue, setUpdated, "is progressing")
		if was != nil && was.Status == corev1.ConditionTrue {
			conditionOf(all, appsv1.DeploymentProgressing).LastTransitionTime = was.LastTransitionTime
		}
		return all
	case was != nil && was.Reason != setComplete && r.deadline(was).Before(now.Time):
		return say(corev1.ConditionFalse, timedOut, "has timed out progressing")
	}
	return all
}

func (r *rollout) complete(s *appsv1.DeploymentStatus) bool {
	wanted := *r.Spec.Replicas
	return s.UpdatedReplicas == wanted && s.Replicas == wanted && s.AvailableReplicas == wanted
}

// advanced reports whether there are more new pods than before, more ready pods, or fewer old pods.
func (r *rollout) advanced(s *appsv1.DeploymentStatus) bool {
	was := &r.Status
	return s.UpdatedReplicas > was.UpdatedReplicas || s.Replicas-s.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		s.ReadyReplicas > was.ReadyReplicas || s.AvailableReplicas > was.AvailableReplicas
}

// deadline returns the time at which a rollout without progress fails.
func (r *rollout) deadline(progressing *appsv1.DeploymentCondition) time.Time {
	return progressing.LastUpdateTime.Add(time.Duration(*r.Spec.ProgressDeadlineSeconds) * time.Second)
}

// look returns the time after which a rollout has to be checked again; 0 means no check.
// [requeueStuckDeployment]
func (r *rollout) look(status *appsv1.DeploymentStatus, now time.Time) time.Duration {
	was := conditionOf(r.Status.Conditions, appsv1.DeploymentProgressing)
	if !hasDeadline(r.Deployment) || was == nil || r.complete(status) || was.Reason == timedOut {
		return 0
	}
	return max(0, r.deadline(was).Sub(now)) + time.Second
}

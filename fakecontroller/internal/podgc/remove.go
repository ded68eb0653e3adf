package podgc

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// remove marks a pod as failed and deletes it without grace. For an orphan it first reads from the
// API server whether the node is really deleted.
func (c *Controller) remove(p *kernel.Process, pod *corev1.Pod, why reason) error {
	key := store.KeyOf(pod)
	if why == orphaned {
		_, err := component.Live[*corev1.Node](p, c.Component, store.Key{Name: pod.Spec.NodeName})
		if err == nil {
			return nil // the node has returned; its event will follow
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("look up node %s of pod %s: %w", pod.Spec.NodeName, key, err)
		}
	}
	if err := c.markFailed(p, pod, why); err != nil {
		return err
	}
	_, err := component.Delete[*corev1.Pod](p, c.Component, key, store.GracePeriod(0))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete pod %s: %w", key, err)
	}
	return nil
}

// markFailed sets the final phase of a pod that has not ended.
func (c *Controller) markFailed(p *kernel.Process, pod *corev1.Pod, why reason) error {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	_, err := component.PatchStatus(p, c.Component, store.KeyOf(pod), func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		if why == orphaned {
			setDisruptionTarget(&pod.Status, p.Now())
		}
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("mark pod %s as failed: %w", store.KeyOf(pod), err)
	}
	return nil
}

func setDisruptionTarget(status *corev1.PodStatus, now time.Time) {
	target := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
		Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
	}
	for i := range status.Conditions {
		if status.Conditions[i].Type == target.Type {
			status.Conditions[i] = target
			return
		}
	}
	status.Conditions = append(status.Conditions, target)
}

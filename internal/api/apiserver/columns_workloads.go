package apiserver

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	columnsOf["statefulsets.apps"] = append([]column{
		nameColumn,
		text("Ready", func(s *appsv1.StatefulSet) string {
			return fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, wanted(s.Spec.Replicas))
		}),
		ageColumn,
	}, containerColumns(func(s *appsv1.StatefulSet) corev1.PodSpec { return s.Spec.Template.Spec })...)
	columnsOf["deployments.apps"] = append(append([]column{
		nameColumn,
		text("Ready", func(d *appsv1.Deployment) string {
			return fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, wanted(d.Spec.Replicas))
		}),
		show("Up-to-date", "string", func(d *appsv1.Deployment) any { return int64(d.Status.UpdatedReplicas) }),
		show("Available", "string", func(d *appsv1.Deployment) any { return int64(d.Status.AvailableReplicas) }),
		ageColumn,
	}, containerColumns(func(d *appsv1.Deployment) corev1.PodSpec { return d.Spec.Template.Spec })...),
		selectorColumn(func(d *appsv1.Deployment) *metav1.LabelSelector { return d.Spec.Selector }))
	columnsOf["replicasets.apps"] = append(append([]column{
		nameColumn,
		show("Desired", "integer", func(r *appsv1.ReplicaSet) any { return int64(wanted(r.Spec.Replicas)) }),
		show("Current", "integer", func(r *appsv1.ReplicaSet) any { return int64(r.Status.Replicas) }),
		show("Ready", "integer", func(r *appsv1.ReplicaSet) any { return int64(r.Status.ReadyReplicas) }),
		ageColumn,
	}, containerColumns(func(r *appsv1.ReplicaSet) corev1.PodSpec { return r.Spec.Template.Spec })...),
		selectorColumn(func(r *appsv1.ReplicaSet) *metav1.LabelSelector { return r.Spec.Selector }))
	columnsOf["daemonsets.apps"] = append(append([]column{
		nameColumn,
		show("Desired", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.DesiredNumberScheduled) }),
		show("Current", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.CurrentNumberScheduled) }),
		show("Ready", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberReady) }),
		show("Up-to-date", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.UpdatedNumberScheduled) }),
		show("Available", "integer", func(d *appsv1.DaemonSet) any { return int64(d.Status.NumberAvailable) }),
		text("Node Selector", func(d *appsv1.DaemonSet) string { return labelsText(d.Spec.Template.Spec.NodeSelector) }),
		ageColumn,
	}, containerColumns(func(d *appsv1.DaemonSet) corev1.PodSpec { return d.Spec.Template.Spec })...),
		selectorColumn(func(d *appsv1.DaemonSet) *metav1.LabelSelector { return d.Spec.Selector }))
}

func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

func containerColumns[T store.Object](spec func(T) corev1.PodSpec) []column {
	join := func(part func(corev1.Container) string) func(T) string {
		return func(obj T) string {
			var parts []string
			for _, c := range spec(obj).Containers {
				parts = append(parts, part(c))
			}
			return strings.Join(parts, ",")
		}
	}
	return []column{
		wide(text("Containers", join(func(c corev1.Container) string { return c.Name }))),
		wide(text("Images", join(func(c corev1.Container) string { return c.Image }))),
	}
}

func selectorColumn[T store.Object](selector func(T) *metav1.LabelSelector) column {
	return wide(text("Selector", func(obj T) string { return metav1.FormatLabelSelector(selector(obj)) }))
}

func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return "<none>"
	}
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
}

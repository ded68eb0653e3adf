package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "Deployment",
		ShortNames: []string{"deploy"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: deploymentRules,
		Columns: deploymentColumns,
		Warnings: fromBoth(func(obj, _ *appsv1.Deployment) []string {
			return podWarnings(field.NewPath("spec", "template"), &obj.Spec.Template.Spec)
		}),
		Scale: scaleOf(func(o *appsv1.Deployment) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var deploymentRules = rulesOfWorkload(func(d *appsv1.Deployment) { fillDeployment(&d.Spec) }, checkDeployment,
	func(d, old *appsv1.Deployment) field.ErrorList { return fixed(d.Spec.Selector, old.Spec.Selector) })

func fillDeployment(spec *appsv1.DeploymentSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setDefault(&spec.ProgressDeadlineSeconds, 600)
	setEmpty(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefault(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefault(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefault(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	fillPodSpec(&spec.Template.Spec)
}

func checkDeployment(d *appsv1.Deployment) field.ErrorList {
	at := field.NewPath("spec")
	errs := replicas(at.Child("replicas"), *d.Spec.Replicas)
	errs = append(errs, workloadSpec{kind: "deployment", pods: "ReplicaSet", selector: d.Spec.Selector, template: &d.Spec.Template}.check()...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

var deploymentColumns = append(append([]Column{
	nameColumn,
	text("Ready", func(d *appsv1.Deployment) string {
		return fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, wanted(d.Spec.Replicas))
	}),
	show("Up-to-date", "string", func(d *appsv1.Deployment) any { return int64(d.Status.UpdatedReplicas) }),
	show("Available", "string", func(d *appsv1.Deployment) any { return int64(d.Status.AvailableReplicas) }),
	ageColumn,
}, containerColumns(func(d *appsv1.Deployment) corev1.PodSpec { return d.Spec.Template.Spec })...),
	selectorColumn(func(d *appsv1.Deployment) *metav1.LabelSelector { return d.Spec.Selector }))

package kind

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "Deployment",
		ShortNames: []string{"deploy"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: deploymentRules,
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
	errs = append(errs, workload{kind: "deployment", pods: "ReplicaSet", selector: d.Spec.Selector, template: &d.Spec.Template}.check()...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

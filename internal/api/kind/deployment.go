package kind

import (
	"fmt"
	"maps"

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
		Columns:  deploymentColumns,
		Warnings: workloadWarnings(func(d *appsv1.Deployment) *corev1.PodTemplateSpec { return &d.Spec.Template }),
		Scale: scaleOf(func(o *appsv1.Deployment) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var deploymentRules = func() rules[*appsv1.Deployment] {
	r := rulesOfWorkload(func(d *appsv1.Deployment) { fillDeployment(&d.Spec) }, checkDeployment,
		func(d, old *appsv1.Deployment) field.ErrorList { return fixed(d.Spec.Selector, old.Spec.Selector) })
	r.prepare = func(obj, old *appsv1.Deployment) { // annotations are copied to replica sets
		if !maps.Equal(obj.GetAnnotations(), old.GetAnnotations()) {
			obj.SetGeneration(old.GetGeneration() + 1)
		}
	}
	r.prepareStatus = func(_ metav1.Time, obj, old *appsv1.Deployment) { obj.SetLabels(old.GetLabels()) }
	r.validateStatus = func(obj, old *appsv1.Deployment) field.ErrorList {
		return checkDeploymentStatus(&obj.Status, &old.Status)
	}
	return r
}()

func fillDeployment(spec *appsv1.DeploymentSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setDefault(&spec.ProgressDeadlineSeconds, 600)
	setEmpty(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefault(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefault(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefault(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	} else if rolling := spec.Strategy.RollingUpdate; rolling != nil {
		// The stored form has numbers instead of percentages.
		setDefault(&rolling.MaxUnavailable, intstr.FromInt32(0))
		setDefault(&rolling.MaxSurge, intstr.FromInt32(0))
	}
	fillPodSpec(&spec.Template.Spec)
}

func checkDeployment(d *appsv1.Deployment) field.ErrorList {
	at := field.NewPath("spec")
	errs := replicas(at.Child("replicas"), *d.Spec.Replicas)
	errs = append(errs, workloadSpec{kind: "deployment", pods: "ReplicaSet", selector: d.Spec.Selector, template: &d.Spec.Template}.check()...)
	errs = append(errs, deploymentStrategy(&d.Spec.Strategy, at.Child("strategy"))...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	errs = append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
	deadline := *d.Spec.ProgressDeadlineSeconds
	errs = append(errs, natural(at.Child("progressDeadlineSeconds"), int64(deadline))...)
	if deadline <= d.Spec.MinReadySeconds {
		errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds"))
	}
	return errs
}

func deploymentStrategy(strategy *appsv1.DeploymentStrategy, at *field.Path) (errs field.ErrorList) {
	rolling := strategy.RollingUpdate
	switch {
	case strategy.Type == appsv1.RecreateDeploymentStrategyType && rolling != nil:
		return field.ErrorList{field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'")}
	case strategy.Type == appsv1.RecreateDeploymentStrategyType:
		return nil
	case strategy.Type != appsv1.RollingUpdateDeploymentStrategyType:
		return field.ErrorList{field.NotSupported(at, goNames{strategy},
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
	}
	at = at.Child("rollingUpdate")
	errs = append(errs, share(at.Child("maxUnavailable"), *rolling.MaxUnavailable)...)
	errs = append(errs, share(at.Child("maxSurge"), *rolling.MaxSurge)...)
	if isNone(*rolling.MaxUnavailable) && isNone(*rolling.MaxSurge) {
		errs = append(errs, field.Invalid(at.Child("maxUnavailable"), *rolling.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
	}
	return append(errs, atMostAll(at.Child("maxUnavailable"), *rolling.MaxUnavailable)...)
}

func checkDeploymentStatus(now, was *appsv1.DeploymentStatus) field.ErrorList {
	all := tally{"replicas", int64(now.Replicas)}
	updated, ready, available := tally{"updatedReplicas", int64(now.UpdatedReplicas)}, tally{"readyReplicas", int64(now.ReadyReplicas)}, tally{"availableReplicas", int64(now.AvailableReplicas)}
	errs := tallies(tally{"observedGeneration", now.ObservedGeneration}, all, updated, ready, available,
		tally{"unavailableReplicas", int64(now.UnavailableReplicas)}, tally{"terminatingReplicas", int64(orZero(now.TerminatingReplicas))},
		tally{"collisionCount", int64(orZero(now.CollisionCount))})
	errs = append(errs, atMost(all, "status.replicas", updated, ready, available)...)
	errs = append(errs, atMost(ready, "readyReplicas", available)...)
	return append(errs, collisions(now.CollisionCount, was.CollisionCount)...)
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
	wide(text("Selector", func(d *appsv1.Deployment) string {
		selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
		if err != nil {
			return "<invalid>"
		}
		return selector.String()
	})))

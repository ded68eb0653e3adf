package kind

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "DaemonSet",
		ShortNames: []string{"ds"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: daemonSetRules,
	})
}

var daemonSetRules = rulesOfWorkload(func(d *appsv1.DaemonSet) { fillDaemonSet(&d.Spec) }, checkDaemonSet,
	func(d, old *appsv1.DaemonSet) field.ErrorList { return fixed(d.Spec.Selector, old.Spec.Selector) })

func fillDaemonSet(spec *appsv1.DaemonSetSpec) {
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefault(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefault(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	fillPodSpec(&spec.Template.Spec)
}

func checkDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := workload{kind: "daemonset", pods: "DaemonSet", selector: d.Spec.Selector, template: &d.Spec.Template, mayLackSelector: true}.check()
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

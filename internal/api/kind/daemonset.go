package kind

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "DaemonSet",
		ShortNames: []string{"ds"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: daemonSetRules,
		Columns: daemonSetColumns,
		Warnings: fromBoth(func(obj, _ *appsv1.DaemonSet) []string {
			return podWarnings(field.NewPath("spec", "template"), &obj.Spec.Template.Spec)
		}),
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
	errs := workloadSpec{kind: "daemonset", pods: "DaemonSet", selector: d.Spec.Selector, template: &d.Spec.Template, mayLackSelector: true}.check()
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

var daemonSetColumns = append(append([]Column{
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

func labelsText(labels map[string]string) string {
	if len(labels) == 0 {
		return "<none>"
	}
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
}

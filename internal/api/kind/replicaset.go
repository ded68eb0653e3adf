package kind

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "ReplicaSet",
		ShortNames: []string{"rs"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: replicaSetRules,
		Columns: replicaSetColumns,
		Fields: selectable(map[string]func(*appsv1.ReplicaSet) string{
			"status.replicas": func(o *appsv1.ReplicaSet) string { return strconv.Itoa(int(o.Status.Replicas)) },
		}),
		Warnings: fromBoth(func(obj, _ *appsv1.ReplicaSet) []string {
			return podWarnings(field.NewPath("spec", "template"), &obj.Spec.Template.Spec)
		}),
		Scale: scaleOf(func(o *appsv1.ReplicaSet) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var replicaSetRules = rulesOfWorkload(func(r *appsv1.ReplicaSet) {
	setDefault(&r.Spec.Replicas, 1)
	fillPodSpec(&r.Spec.Template.Spec)
}, checkReplicaSet, func(r, old *appsv1.ReplicaSet) field.ErrorList { return fixed(r.Spec.Selector, old.Spec.Selector) })

func checkReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := replicas(at.Child("replicas"), *r.Spec.Replicas)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(r.Spec.MinReadySeconds))...)
	return append(errs, workloadSpec{kind: "deployment", pods: "ReplicaSet", selector: r.Spec.Selector, template: &r.Spec.Template}.check()...)
}

var replicaSetColumns = append(append([]Column{
	nameColumn,
	show("Desired", "integer", func(r *appsv1.ReplicaSet) any { return int64(wanted(r.Spec.Replicas)) }),
	show("Current", "integer", func(r *appsv1.ReplicaSet) any { return int64(r.Status.Replicas) }),
	show("Ready", "integer", func(r *appsv1.ReplicaSet) any { return int64(r.Status.ReadyReplicas) }),
	ageColumn,
}, containerColumns(func(r *appsv1.ReplicaSet) corev1.PodSpec { return r.Spec.Template.Spec })...),
	selectorColumn(func(r *appsv1.ReplicaSet) *metav1.LabelSelector { return r.Spec.Selector }))

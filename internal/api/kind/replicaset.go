package kind

import (
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
		Columns:  replicaSetColumns,
		Warnings: workloadWarnings(func(r *appsv1.ReplicaSet) *corev1.PodTemplateSpec { return &r.Spec.Template }),
		Scale: scaleOf(func(o *appsv1.ReplicaSet) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var replicaSetRules = func() rules[*appsv1.ReplicaSet] {
	r := rulesOfWorkload(func(r *appsv1.ReplicaSet) {
		setDefault(&r.Spec.Replicas, 1)
		fillPodSpec(&r.Spec.Template.Spec)
	}, checkReplicaSet, func(r, old *appsv1.ReplicaSet) field.ErrorList { return fixed(r.Spec.Selector, old.Spec.Selector) })
	r.validateStatus = func(obj, _ *appsv1.ReplicaSet) field.ErrorList {
		return checkReplicaSetStatus(&obj.Status)
	}
	return r
}()

func checkReplicaSetStatus(now *appsv1.ReplicaSetStatus) field.ErrorList {
	all, labeled := tally{"replicas", int64(now.Replicas)}, tally{"fullyLabeledReplicas", int64(now.FullyLabeledReplicas)}
	ready, available := tally{"readyReplicas", int64(now.ReadyReplicas)}, tally{"availableReplicas", int64(now.AvailableReplicas)}
	errs := tallies(all, labeled, ready, available, tally{"observedGeneration", now.ObservedGeneration}, tally{"terminatingReplicas", int64(orZero(now.TerminatingReplicas))})
	errs = append(errs, atMost(all, "status.replicas", labeled, ready, available)...)
	return append(errs, atMost(ready, "readyReplicas", available)...)
}

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

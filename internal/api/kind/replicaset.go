package kind

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "ReplicaSet",
		ShortNames: []string{"rs"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: replicaSetRules,
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
	return append(errs, workload{kind: "deployment", pods: "ReplicaSet", selector: r.Spec.Selector, template: &r.Spec.Template}.check()...)
}

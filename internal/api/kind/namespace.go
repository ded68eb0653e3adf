package store

import (
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var namespaceRules = rules{
	name: validation.NameIsDNSLabel,
	fill: func(obj Object) {
		namespace := obj.(*corev1.Namespace)
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
		setEmpty(&namespace.Status.Phase, corev1.NamespaceActive)
	},
	admit: func(_ admission, obj Object) error {
		namespace := obj.(*corev1.Namespace)
		if !slices.Contains(namespace.Spec.Finalizers, corev1.FinalizerKubernetes) {
			namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
		return nil
	},
	prepare: func(obj, old Object) {
		obj.(*corev1.Namespace).Spec.Finalizers = old.(*corev1.Namespace).Spec.Finalizers
	},
	passes: []pass{whole, changed},
	validate: func(obj Object) (errs field.ErrorList) {
		for _, name := range obj.(*corev1.Namespace).Spec.Finalizers {
			errs = append(errs, validation.ValidateFinalizerName(string(name), field.NewPath("spec", "finalizers"))...)
			if !isFinalizer(string(name)) {
				errs = append(errs, notAFinalizer(field.NewPath("spec", "finalizers"), string(name)))
			}
		}
		return errs
	},
	validateStatus: checkNamespaceStatus,
	terminate: func(now metav1.Time, obj Object) bool {
		namespace := obj.(*corev1.Namespace)
		if namespace.DeletionTimestamp == nil {
			namespace.DeletionTimestamp = &now
			namespace.Status.Phase = corev1.NamespaceTerminating
		}
		return len(namespace.Spec.Finalizers) > 0
	},
}

func checkNamespaceStatus(obj, _ Object) field.ErrorList {
	const rule = "may only be '%s' if `deletionTimestamp` is %sempty"
	namespace, path := obj.(*corev1.Namespace), field.NewPath("status", "Phase")
	switch phase := namespace.Status.Phase; {
	case namespace.DeletionTimestamp == nil && phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(path, phase, fmt.Sprintf(rule, corev1.NamespaceActive, ""))}
	case namespace.DeletionTimestamp != nil && phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(path, phase, fmt.Sprintf(rule, corev1.NamespaceTerminating, "not "))}
	}
	return nil
}

var leaseRules = rules{
	createdByUpdate: true,
	fill: func(obj Object) { // the gate CoordinatedLeaderElection is beta and off
		obj.(*coordinationv1.Lease).Spec.Strategy, obj.(*coordinationv1.Lease).Spec.PreferredHolder = nil, nil
	},
	validate:       func(obj Object) field.ErrorList { return checkLease(&obj.(*coordinationv1.Lease).Spec) },
	validateUpdate: func(obj, _ Object) field.ErrorList { return checkLease(&obj.(*coordinationv1.Lease).Spec) },
}

func checkLease(spec *coordinationv1.LeaseSpec) field.ErrorList {
	var errs field.ErrorList
	if d := spec.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := spec.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	return errs
}

package store

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
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
	terminate: func(now metav1.Time, obj Object) bool {
		namespace := obj.(*corev1.Namespace)
		if namespace.DeletionTimestamp == nil {
			namespace.DeletionTimestamp = &now
			namespace.Status.Phase = corev1.NamespaceTerminating
		}
		return len(namespace.Spec.Finalizers) > 0
	},
}

var nodeRules = rules{
	keepsStatus: true,
	admit: func(a admission, obj Object) error {
		notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
		if spec := &obj.(*corev1.Node).Spec; a.options.TaintNewNodes && !slices.Contains(spec.Taints, notReady) {
			spec.Taints = append(spec.Taints, notReady)
		}
		return nil
	},
	fill: func(obj Object) {
		node := obj.(*corev1.Node)
		fillPodCIDRs(&node.Spec)
		if status := &node.Status; status.Allocatable == nil && status.Capacity != nil {
			status.Allocatable = status.Capacity.DeepCopy()
		}
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*corev1.Node), old.(*corev1.Node)
		var errs field.ErrorList
		if len(was.Spec.PodCIDRs) > 0 && !slices.Equal(now.Spec.PodCIDRs, was.Spec.PodCIDRs) {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
		}
		if was.Spec.ProviderID != "" && now.Spec.ProviderID != was.Spec.ProviderID {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "providerID"), `node updates may not change providerID except from "" to valid`))
		}
		return append(errs, taints(now.Spec.Taints)...)
	},
	validate: func(obj Object) field.ErrorList { return taints(obj.(*corev1.Node).Spec.Taints) },
}

// fillPodCIDRs keeps the older single field equal to the first of the list.
func fillPodCIDRs(spec *corev1.NodeSpec) {
	switch {
	case spec.PodCIDR != "" && (len(spec.PodCIDRs) == 0 || spec.PodCIDRs[0] != spec.PodCIDR):
		spec.PodCIDRs = []string{spec.PodCIDR}
	case spec.PodCIDR == "" && len(spec.PodCIDRs) > 0:
		spec.PodCIDR = spec.PodCIDRs[0]
	}
}

func taints(given []corev1.Taint) field.ErrorList {
	var errs field.ErrorList
	for i, taint := range given {
		again := slices.ContainsFunc(given[:i], func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
		if again {
			mistake := field.Duplicate(field.NewPath("metadata", "taints").Index(i), goNames{taint})
			mistake.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, mistake)
		}
	}
	return errs
}

var secretRules = rules{
	fill: func(obj Object) {
		secret := obj.(*corev1.Secret)
		setEmpty(&secret.Type, corev1.SecretTypeOpaque)
		if secret.Data == nil && len(secret.StringData) > 0 {
			secret.Data = map[string][]byte{}
		}
		for key, value := range secret.StringData {
			secret.Data[key] = []byte(value)
		}
		secret.StringData = nil
	},
	validate: func(obj Object) field.ErrorList { return secretKeys(obj.(*corev1.Secret)) },
	validateUpdate: func(obj, old Object) field.ErrorList {
		now, was := obj.(*corev1.Secret), old.(*corev1.Secret)
		errs := immutable(field.NewPath("type"), now.Type, was.Type)
		if was.Immutable == nil || !*was.Immutable {
			return append(errs, secretKeys(now)...)
		}
		const rule = "field is immutable when `immutable` is set"
		if now.Immutable == nil || !*now.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), rule))
		}
		if immutable(nil, now.Data, was.Data) != nil {
			errs = append(errs, field.Forbidden(field.NewPath("data"), rule))
		}
		return append(errs, secretKeys(now)...)
	},
}

func secretKeys(secret *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(secret.Data) {
		errs = append(errs, invalid(field.NewPath("data").Key(key), key, utilvalidation.IsConfigMapKey(key))...)
	}
	return errs
}

var leaseRules = rules{
	createdByUpdate: true,
	validate:        func(obj Object) field.ErrorList { return checkLease(&obj.(*coordinationv1.Lease).Spec) },
	validateUpdate:  func(obj, _ Object) field.ErrorList { return checkLease(&obj.(*coordinationv1.Lease).Spec) },
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

var eventRules = rules{
	createdByUpdate: true,
	validate: func(obj Object) field.ErrorList {
		event := obj.(*corev1.Event)
		about := event.InvolvedObject.Namespace
		ofCluster := about == "" && event.Namespace == metav1.NamespaceDefault
		if event.EventTime.IsZero() && about != event.Namespace && !ofCluster {
			return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")}
		}
		return nil
	},
}

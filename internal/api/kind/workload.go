package kind

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// rulesOfWorkload are common to kinds that make pods.
func rulesOfWorkload[T store.Object](fill func(T), validate func(T) field.ErrorList, changes func(obj, old T) field.ErrorList) rules[T] {
	return rules[T]{
		fill: fill, validate: validate,
		validateUpdate: func(obj, old T) field.ErrorList { return append(validate(obj), changes(obj, old)...) },
	}
}

// workloadSpec has the fields that kinds with a pod template share.
type workloadSpec struct {
	kind     string // its name in messages, such as deployment
	pods     string // the kind in messages about its template, such as ReplicaSet
	selector *metav1.LabelSelector
	template *corev1.PodTemplateSpec
	// mayLackSelector permits a template alone.
	mayLackSelector bool
}

// check returns the field errors of the selector and of the template.
func (w workloadSpec) check() field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if w.selector == nil && !w.mayLackSelector {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	}
	errs = append(errs, checkSelector(w.selector, at.Child("selector"))...)
	empty := w.selector != nil && len(w.selector.MatchLabels)+len(w.selector.MatchExpressions) == 0
	emptySelector := field.Invalid(at.Child("selector"), w.selector, "empty selector is invalid for "+w.kind)
	if empty && !w.mayLackSelector {
		errs = append(errs, emptySelector)
	}
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	switch {
	case err != nil && w.kind == "statefulset":
		return append(append(errs, field.Invalid(at.Child("selector"), w.selector, "")), w.checkLife(at.Child("template"))...)
	case err != nil && !w.mayLackSelector:
		return append(errs, field.Invalid(at.Child("selector"), w.selector, "invalid label selector"))
	case err == nil && !selector.Empty() && !selector.Matches(labels.Set(w.template.Labels)):
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), w.template.Labels, "`selector` does not match template `labels`"))
	}
	if empty && w.mayLackSelector {
		errs = append(errs, emptySelector)
	}
	return append(errs, w.checkTemplate(at.Child("template"))...)
}

// podTemplate checks the fields that all pod templates have.
func podTemplate(template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := templateMetadata(template, at)
	errs = append(errs, checkPodSpec(&template.Spec, "", at.Child("spec"))...)
	if len(template.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

func templateMetadata(template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := checkLabels(template.Labels, at.Child("labels"))
	return append(errs, store.CheckByKey(template.Annotations, at.Child("annotations"), validation.ValidateAnnotations)...)
}

func (w workloadSpec) checkTemplate(at *field.Path) field.ErrorList {
	errs := podTemplate(w.template, at)
	if w.pods == "StatefulSet" {
		errs = append(errs, templateMetadata(w.template, at)...) // reported twice
	}
	return append(errs, w.checkLife(at)...)
}

// checkLife checks that pods run without an end.
func (w workloadSpec) checkLife(at *field.Path) (errs field.ErrorList) {
	if policy := w.template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if w.template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+w.pods+" is not Supported"))
	}
	return errs
}

// workloadWarnings returns the warnings about a new or changed template, and about the name of a
// new object, from which its pods get their names.
func workloadWarnings[T store.Object](template func(T) *corev1.PodTemplateSpec) func(obj, old store.Object) []string {
	return func(obj, old store.Object) (texts []string) {
		switch {
		case old == nil:
			texts = nameWarning(ofItsPods, obj.GetName())
		case old.GetGeneration() == obj.GetGeneration():
			return nil
		}
		return append(texts, podWarnings(field.NewPath("spec", "template"), &template(typed[T](obj)).Spec)...)
	}
}

// fixed checks that a change keeps the selector.
func fixed(selector, old *metav1.LabelSelector) field.ErrorList {
	return validation.ValidateImmutableField(selector, old, field.NewPath("spec", "selector"))
}

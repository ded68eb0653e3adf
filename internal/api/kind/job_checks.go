package kind

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkJob returns the field errors of a job with labels and a selector.
func checkJob(job *batchv1.Job) field.ErrorList {
	errs := ownSelector(job)
	errs = append(errs, checkSelectingJob(&job.Spec, field.NewPath("spec"))...)
	return append(errs, indexedHostname(job)...)
}

// ownSelector checks a job with a generated selector: the selector and the template have the
// generated labels.
func ownSelector(job *batchv1.Job) (errs field.ErrorList) {
	if *job.Spec.ManualSelector || job.Spec.Selector == nil {
		return nil
	}
	expected := ownLabels(job)
	at, has := field.NewPath("spec", "template", "metadata", "labels"), job.Spec.Template.Labels
	for _, label := range []string{oldControllerUIDLabel, oldJobNameLabel, batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
		rule := fmt.Sprintf("must be '%s'", expected[label])
		if value, ok := has[label]; !ok {
			errs = append(errs, field.Required(at.Key(label), rule))
		} else if value != expected[label] {
			errs = append(errs, field.Invalid(at.Key(label), has, rule))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector); err == nil && !selector.Matches(labels.Set(expected)) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), job.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// checkSelectingJob checks a job with a selector, which the template of a cron job lacks.
func checkSelectingJob(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := checkJobSpec(spec, at)
	if spec.Selector == nil {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	} else {
		errs = append(errs, checkSelector(spec.Selector, at.Child("selector"))...)
	}
	if selector, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil && !selector.Matches(labels.Set(spec.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// indexedHostname checks that the last pod of an indexed job can have its name.
func indexedHostname(job *batchv1.Job) field.ErrorList {
	if !isIndexed(&job.Spec) || job.Spec.Completions == nil || *job.Spec.Completions <= 0 {
		return nil
	}
	last := fmt.Sprintf("%s-%d", job.Name, *job.Spec.Completions-1)
	if len(utilvalidation.IsDNS1123Label(last)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(metadataPath.Child("name"), job.Name, "will not able to create pod with invalid DNS label: "+last)}
}

func isIndexed(spec *batchv1.JobSpec) bool {
	return spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion
}

// maxManagedBy is the longest name of another controller of a job.
const maxManagedBy = 63

func checkJobSpec(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	number := func(name string, n *int32) {
		if n != nil {
			errs = append(errs, natural(at.Child(name), int64(*n))...)
		}
	}
	number("parallelism", spec.Parallelism)
	number("completions", spec.Completions)
	if d := spec.ActiveDeadlineSeconds; d != nil {
		errs = append(errs, natural(at.Child("activeDeadlineSeconds"), *d)...)
	}
	number("backoffLimit", spec.BackoffLimit)
	number("ttlSecondsAfterFinished", spec.TTLSecondsAfterFinished)
	number("backoffLimitPerIndex", spec.BackoffLimitPerIndex)
	number("maxFailedIndexes", spec.MaxFailedIndexes)
	if spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if by := spec.ManagedBy; by != nil {
		errs = append(errs, utilvalidation.IsDomainPrefixedPath(at.Child("managedBy"), *by)...)
		if len(*by) > maxManagedBy {
			errs = append(errs, field.TooLong(at.Child("managedBy"), "", maxManagedBy))
		}
	}
	errs = append(errs, completionMode(spec, at)...)
	errs = append(errs, podFailurePolicy(spec, at.Child("podFailurePolicy"))...)
	errs = append(errs, successPolicy(spec, at.Child("successPolicy"))...)
	errs = append(errs, podReplacementPolicy(spec, at.Child("podReplacementPolicy"))...)
	errs = append(errs, podTemplate(&spec.Template, at.Child("template"))...)
	return append(errs, endingPods(spec, at.Child("template", "spec", "restartPolicy"))...)
}

// endingPods checks that the pods of a job end.
func endingPods(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch policy := spec.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways:
		return field.ErrorList{field.Required(at, `valid values: "OnFailure", "Never"`)}
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		return field.ErrorList{field.NotSupported(at, policy, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})}
	case policy != corev1.RestartPolicyNever && spec.PodFailurePolicy != nil:
		return field.ErrorList{field.Invalid(at, policy, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return nil
}

func podReplacementPolicy(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch policy := spec.PodReplacementPolicy; {
	case policy == nil:
		return nil
	case spec.PodFailurePolicy != nil:
		return oneOf(at, *policy, batchv1.Failed)
	default:
		return oneOf(at, *policy, batchv1.Failed, batchv1.TerminatingOrFailed)
	}
}

package kind

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkJobChange checks the changes of a job's spec. Few changes are permitted, and changes of its
// template only if the job is suspended.
func checkJobChange(job, old *batchv1.Job) field.ErrorList {
	at, spec, was := field.NewPath("spec"), &job.Spec, &old.Spec
	errs := checkSelectingJob(spec, at)
	errs = append(errs, completionsChange(spec, was, at.Child("completions"))...)
	errs = append(errs, immutable(at.Child("selector"), spec.Selector, was.Selector)...)
	errs = append(errs, jobTemplateChange(job, old, at.Child("template"))...)
	errs = append(errs, immutable(at.Child("completionMode"), spec.CompletionMode, was.CompletionMode)...)
	errs = append(errs, immutable(at.Child("podFailurePolicy"), spec.PodFailurePolicy, was.PodFailurePolicy)...)
	errs = append(errs, immutable(at.Child("backoffLimitPerIndex"), spec.BackoffLimitPerIndex, was.BackoffLimitPerIndex)...)
	errs = append(errs, immutable(at.Child("managedBy"), spec.ManagedBy, was.ManagedBy)...)
	return append(errs, immutable(at.Child("successPolicy"), spec.SuccessPolicy, was.SuccessPolicy)...)
}

// completionsChange: the completions of an indexed job may change only with its parallelism, those
// of other jobs never.
func completionsChange(spec, old *batchv1.JobSpec, at *field.Path) field.ErrorList {
	changed := immutable(at, spec.Completions, old.Completions)
	switch {
	case !isIndexed(spec) || changed == nil:
		return changed
	case spec.Completions == nil || *spec.Completions == *spec.Parallelism:
		return nil
	}
	return field.ErrorList{field.Invalid(at, spec.Completions, "can only be modified in tandem with spec.parallelism")}
}

// jobTemplateChange permits changes of scheduling and resources while the job is suspended and has
// no pods.
func jobTemplateChange(job, old *batchv1.Job, at *field.Path) field.ErrorList {
	now, was := &job.Spec.Template, &old.Spec.Template
	hasStarted := old.Status.StartTime != nil && !hasJobCondition(old, batchv1.JobSuspended)
	if !*old.Spec.Suspend || old.Status.Active > 0 || hasStarted {
		return immutable(at, *now, *was)
	}
	was = was.DeepCopy()
	placeLike(was, now)
	takeResources(was.Spec.Containers, now.Spec.Containers)
	takeResources(was.Spec.InitContainers, now.Spec.InitContainers)
	return immutable(field.NewPath("spec", "template.spec"), now.Spec, was.Spec)
}

// placeLike copies the scheduling fields of a template to another.
func placeLike(template, other *corev1.PodTemplateSpec) {
	to, from := &template.Spec, &other.Spec
	switch {
	case from.Affinity == nil && to.Affinity != nil:
		if to.Affinity.NodeAffinity = nil; *to.Affinity == (corev1.Affinity{}) {
			to.Affinity = nil
		}
	case from.Affinity != nil && to.Affinity == nil:
		to.Affinity = &corev1.Affinity{NodeAffinity: from.Affinity.NodeAffinity}
	case from.Affinity != nil:
		to.Affinity.NodeAffinity = from.Affinity.NodeAffinity
	}
	to.NodeSelector, to.Tolerations, to.SchedulingGates = from.NodeSelector, from.Tolerations, from.SchedulingGates
}

func takeResources(to, from []corev1.Container) {
	if len(to) != len(from) {
		return
	}
	for i := range to {
		if to[i].Name == from[i].Name {
			to[i].Resources = from[i].Resources
		}
	}
}

func hasJobCondition(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	return jobConditionIs(job, kind, corev1.ConditionTrue)
}

func jobConditionIs(job *batchv1.Job, kind batchv1.JobConditionType, status corev1.ConditionStatus) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == kind && c.Status == status {
			return true
		}
	}
	return false
}

package kind

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "batch", Version: "v1", Name: "Job",
		Categories: []string{"all"},
		traits:     withStatus | withGeneration, rules: jobRules,
		Columns: jobColumns,
		Fields: selectable(map[string]func(*batchv1.Job) string{
			"status.successful": func(o *batchv1.Job) string { return strconv.Itoa(int(o.Status.Succeeded)) },
		}),
		Warnings: fromBoth(func(obj, _ *batchv1.Job) []string {
			return podWarnings(field.NewPath("spec", "template"), &obj.Spec.Template.Spec)
		}),
	})
}

var jobRules = rules[*batchv1.Job]{
	fill:  func(obj *batchv1.Job) { fillJob(&obj.Spec) },
	admit: func(_ admission, obj *batchv1.Job) error { selectOwnPods(obj); return nil },
	validate: func(obj *batchv1.Job) field.ErrorList {
		return checkJob(&obj.Spec, field.NewPath("spec"))
	},
	validateUpdate: func(obj, old *batchv1.Job) field.ErrorList {
		spec, was := &obj.Spec, &old.Spec
		return append(checkJob(spec, field.NewPath("spec")), fixed(spec.Selector, was.Selector)...)
	},
}

func fillJob(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		setDefault(&spec.Completions, 1)
	}
	setDefault(&spec.Parallelism, 1)
	setDefault(&spec.BackoffLimit, 6)
	setDefault(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setDefault(&spec.Suspend, false)
	setDefault(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	fillPodSpec(&spec.Template.Spec)
}

// selectOwnPods gives the pods of a job labels that only they have, and selects them by
// those, unless the user selects them.
func selectOwnPods(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	for label, value := range map[string]string{ // any order: each for itself
		batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name,
		"controller-uid": string(job.UID), "job-name": job.Name,
	} {
		if job.Spec.Template.Labels == nil {
			job.Spec.Template.Labels = map[string]string{}
		}
		job.Spec.Template.Labels[label] = value
	}
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	metav1.AddLabelToSelector(job.Spec.Selector, batchv1.ControllerUidLabel, string(job.UID))
}

func checkJob(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, number := range []struct {
		name  string
		value *int32
	}{{"parallelism", spec.Parallelism}, {"completions", spec.Completions}, {"backoffLimit", spec.BackoffLimit}} {
		if number.value != nil {
			errs = append(errs, natural(at.Child(number.name), int64(*number.value))...)
		}
	}
	return append(errs, checkEndingPods(&spec.Template.Spec, at.Child("template", "spec"))...)
}

// checkEndingPods checks a template of pods that come to an end.
func checkEndingPods(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	errs := checkPodSpec(spec, "", at)
	switch spec.RestartPolicy {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	case corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(at.Child("restartPolicy"), `valid values: "OnFailure", "Never"`))
	default:
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	return errs
}

var jobColumns = append(append([]Column{
	nameColumn,
	text("Status", jobStatus),
	text("Completions", completions),
	timed("Duration", func(j *batchv1.Job, now time.Time) any { return jobDuration(j, now) }),
	ageColumn,
}, containerColumns(func(j *batchv1.Job) corev1.PodSpec { return j.Spec.Template.Spec })...),
	selectorColumn(func(j *batchv1.Job) *metav1.LabelSelector { return j.Spec.Selector }))

func jobStatus(job *batchv1.Job) string {
	holds := func(kind batchv1.JobConditionType) bool {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == kind && c.Status == corev1.ConditionTrue
		})
	}
	switch {
	case holds(batchv1.JobComplete):
		return "Complete"
	case holds(batchv1.JobFailed):
		return "Failed"
	case job.DeletionTimestamp != nil:
		return "Terminating"
	case holds(batchv1.JobSuspended):
		return "Suspended"
	case holds(batchv1.JobFailureTarget):
		return "FailureTarget"
	case holds(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func completions(job *batchv1.Job) string {
	switch {
	case job.Spec.Completions != nil:
		return fmt.Sprintf("%d/%d", job.Status.Succeeded, *job.Spec.Completions)
	case job.Spec.Parallelism != nil && *job.Spec.Parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", job.Status.Succeeded, *job.Spec.Parallelism)
	}
	return fmt.Sprintf("%d/1", job.Status.Succeeded)
}

func jobDuration(job *batchv1.Job, now time.Time) string {
	switch {
	case job.Status.StartTime == nil:
		return ""
	case job.Status.CompletionTime != nil:
		now = job.Status.CompletionTime.Time
	}
	return duration.HumanDuration(now.Sub(job.Status.StartTime.Time))
}

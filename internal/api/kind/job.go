package store

import (
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var jobRules = rules{
	fill:  func(obj Object) { fillJob(&obj.(*batchv1.Job).Spec) },
	admit: func(_ admission, obj Object) error { selectOwnPods(obj.(*batchv1.Job)); return nil },
	validate: func(obj Object) field.ErrorList {
		return checkJob(&obj.(*batchv1.Job).Spec, field.NewPath("spec"))
	},
	validateUpdate: func(obj, old Object) field.ErrorList {
		spec, was := &obj.(*batchv1.Job).Spec, &old.(*batchv1.Job).Spec
		return append(checkJob(spec, field.NewPath("spec")), fixed(spec.Selector, was.Selector)...)
	},
}

var cronJobRules = rules{
	fill: func(obj Object) {
		spec := &obj.(*batchv1.CronJob).Spec
		setEmpty(&spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setDefault(&spec.Suspend, false)
		setDefault(&spec.SuccessfulJobsHistoryLimit, 3)
		setDefault(&spec.FailedJobsHistoryLimit, 1)
		fillPodSpec(&spec.JobTemplate.Spec.Template.Spec)
	},
	validate:       func(obj Object) field.ErrorList { return checkCronJob(obj.(*batchv1.CronJob)) },
	validateUpdate: func(obj, _ Object) field.ErrorList { return checkCronJob(obj.(*batchv1.CronJob)) },
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

// maxCronJobName leaves room for what the controller appends to name a job.
const maxCronJobName = 52

func checkCronJob(c *batchv1.CronJob) field.ErrorList {
	at, spec := field.NewPath("spec"), &c.Spec
	errs := checkSchedule(spec, at)
	if d := spec.StartingDeadlineSeconds; d != nil {
		errs = append(errs, natural(at.Child("startingDeadlineSeconds"), *d)...)
	}
	policies := []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}
	if !slices.Contains(policies, spec.ConcurrencyPolicy) {
		errs = append(errs, field.NotSupported(at.Child("concurrencyPolicy"), spec.ConcurrencyPolicy, policies))
	}
	errs = append(errs, checkJob(&spec.JobTemplate.Spec, at.Child("jobTemplate", "spec"))...)
	if len(c.Name) > maxCronJobName {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be no more than 52 characters"))
	}
	return errs
}

func checkSchedule(spec *batchv1.CronJobSpec, at *field.Path) field.ErrorList {
	if spec.Schedule == "" {
		return field.ErrorList{field.Required(at.Child("schedule"), "")}
	}
	var errs field.ErrorList
	if _, err := cron.ParseStandard(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(at.Child("schedule"), spec.Schedule, err.Error()))
	}
	if strings.Contains(spec.Schedule, "TZ") {
		errs = append(errs, field.Invalid(at.Child("schedule"), spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	if spec.TimeZone != nil {
		if _, err := time.LoadLocation(*spec.TimeZone); err != nil || *spec.TimeZone == "" {
			errs = append(errs, field.Invalid(at.Child("timeZone"), *spec.TimeZone, "unknown time zone "+*spec.TimeZone))
		}
	}
	return errs
}

package kind

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "batch", Version: "v1", Name: "CronJob",
		ShortNames: []string{"cj"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: cronJobRules,
		Columns: cronJobColumns,
		Warnings: fromBoth(func(obj, _ *batchv1.CronJob) []string {
			return podWarnings(field.NewPath("spec", "jobTemplate", "spec", "template"), &obj.Spec.JobTemplate.Spec.Template.Spec)
		}),
	})
}

var cronJobRules = rules[*batchv1.CronJob]{
	fill: func(obj *batchv1.CronJob) {
		spec := &obj.Spec
		setEmpty(&spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setDefault(&spec.Suspend, false)
		setDefault(&spec.SuccessfulJobsHistoryLimit, 3)
		setDefault(&spec.FailedJobsHistoryLimit, 1)
		fillPodSpec(&spec.JobTemplate.Spec.Template.Spec)
	},
	validate:       checkCronJob,
	validateUpdate: func(obj, _ *batchv1.CronJob) field.ErrorList { return checkCronJob(obj) },
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
	if zone := spec.TimeZone; zone != nil && *zone == "" {
		errs = append(errs, field.Invalid(at.Child("timeZone"), *zone, "timeZone must be nil or non-empty string"))
	} else if zone != nil {
		if _, err := time.LoadLocation(*zone); err != nil {
			errs = append(errs, field.Invalid(at.Child("timeZone"), *zone, "unknown time zone "+*zone))
		}
	}
	return errs
}

var cronJobColumns = append(append([]Column{
	nameColumn,
	text("Schedule", func(c *batchv1.CronJob) string { return c.Spec.Schedule }),
	text("Timezone", func(c *batchv1.CronJob) string { return orNone(c.Spec.TimeZone) }),
	show("Suspend", "boolean", func(c *batchv1.CronJob) any { return suspended(c.Spec.Suspend) }),
	show("Active", "integer", func(c *batchv1.CronJob) any { return int64(len(c.Status.Active)) }),
	timed("Last Schedule", func(c *batchv1.CronJob, now time.Time) any {
		if c.Status.LastScheduleTime == nil {
			return "<none>"
		}
		return age(*c.Status.LastScheduleTime, now)
	}),
	ageColumn,
}, containerColumns(func(c *batchv1.CronJob) corev1.PodSpec { return c.Spec.JobTemplate.Spec.Template.Spec })...),
	selectorColumn(func(c *batchv1.CronJob) *metav1.LabelSelector { return c.Spec.JobTemplate.Spec.Selector }))

func suspended(suspend *bool) string {
	switch {
	case suspend == nil:
		return "<unset>"
	case *suspend:
		return "True"
	}
	return "False"
}

func orNone(text *string) string {
	if text == nil {
		return "<none>"
	}
	return *text
}

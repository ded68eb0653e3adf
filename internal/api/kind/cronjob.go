package kind

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

func init() {
	register(Kind{
		Group: "batch", Version: "v1", Name: "CronJob",
		ShortNames: []string{"cj"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: cronJobRules,
		Columns:  cronJobColumns,
		Warnings: fromBoth(cronJobWarnings),
	})
}

var cronJobRules = rules[*batchv1.CronJob]{
	fill: func(obj *batchv1.CronJob) {
		spec := &obj.Spec
		setEmpty(&spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setDefault(&spec.Suspend, false)
		setDefault(&spec.SuccessfulJobsHistoryLimit, 3)
		setDefault(&spec.FailedJobsHistoryLimit, 1)
		fillJobTemplate(&spec.JobTemplate.Spec)
	},
	validate: func(obj *batchv1.CronJob) field.ErrorList {
		return append(checkCronJob(&obj.Spec, nil), cronJobName(obj.GetName())...)
	},
	validateUpdate: func(obj, old *batchv1.CronJob) field.ErrorList {
		return checkCronJob(&obj.Spec, &old.Spec)
	},
}

// maxCronJobName leaves room for the suffix that the controller appends to name a job.
const maxCronJobName = 52

func cronJobName(name string) field.ErrorList {
	if len(name) <= maxCronJobName {
		return nil
	}
	return field.ErrorList{field.Invalid(metadataPath.Child("name"), name, "must be no more than 52 characters")}
}

// checkCronJob checks a spec; old is the replaced spec, nil for a new object.
func checkCronJob(spec, old *batchv1.CronJobSpec) field.ErrorList {
	at := field.NewPath("spec")
	errs := checkSchedule(spec, old, at)
	if d := spec.StartingDeadlineSeconds; d != nil {
		errs = append(errs, natural(at.Child("startingDeadlineSeconds"), *d)...)
	}
	if old == nil || immutable(nil, spec.TimeZone, old.TimeZone) != nil {
		errs = append(errs, checkTimeZone(spec.TimeZone, at.Child("timeZone"))...)
	}
	errs = append(errs, oneOf(at.Child("concurrencyPolicy"), spec.ConcurrencyPolicy,
		batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent)...)
	errs = append(errs, checkJobTemplate(&spec.JobTemplate.Spec, at.Child("jobTemplate", "spec"))...)
	errs = append(errs, natural(at.Child("successfulJobsHistoryLimit"), int64(*spec.SuccessfulJobsHistoryLimit))...)
	return append(errs, natural(at.Child("failedJobsHistoryLimit"), int64(*spec.FailedJobsHistoryLimit))...)
}

// checkJobTemplate checks the template of a job, which has no selector yet.
func checkJobTemplate(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := checkJobSpec(spec, at)
	if spec.Selector != nil {
		errs = append(errs, field.Invalid(at.Child("selector"), spec.Selector, "`selector` will be auto-generated"))
	}
	if manual := spec.ManualSelector; manual != nil && *manual {
		errs = append(errs, field.NotSupported(at.Child("manualSelector"), manual, []string{"nil", "false"}))
	}
	return errs
}

// checkSchedule permits a time zone in the schedule only if the old schedule had it.
func checkSchedule(spec, old *batchv1.CronJobSpec, at *field.Path) (errs field.ErrorList) {
	if at = at.Child("schedule"); spec.Schedule == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if err := parseSchedule(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(at, spec.Schedule, err.Error()))
	}
	hadZone := old != nil && strings.Contains(old.Schedule, "TZ")
	switch hasZone := strings.Contains(spec.Schedule, "TZ"); {
	case hasZone && hadZone && spec.TimeZone != nil:
		errs = append(errs, field.Invalid(at, spec.Schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule"))
	case hasZone && !hadZone:
		errs = append(errs, field.Invalid(at, spec.Schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"))
	}
	return errs
}

// parseSchedule returns an error also if the parser panics.
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// zonePart is a part of the name of a time zone; digits and + occur in older names.
var zonePart = lazyregexp.New(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func checkTimeZone(zone *string, at *field.Path) (errs field.ErrorList) {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(at, zone, "timeZone must be nil or non-empty string")}
	}
	for _, part := range strings.Split(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart().MatchString(part) {
			return field.ErrorList{field.Invalid(at, zone, "unknown time zone "+*zone)}
		}
	}
	if strings.EqualFold(*zone, "Local") {
		errs = append(errs, field.Invalid(at, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(at, zone, err.Error()))
	}
	return errs
}

func cronJobWarnings(job, old *batchv1.CronJob) (texts []string) {
	if old == nil || old.Generation != job.Generation {
		texts = jobSpecWarnings(field.NewPath("spec", "jobTemplate", "spec"), &job.Spec.JobTemplate.Spec)
	}
	if old == nil {
		return append(nameWarning(ofItsPods, job.Name), texts...)
	}
	if strings.Contains(job.Spec.Schedule, "TZ") {
		texts = append(texts, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details")
	}
	return texts
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

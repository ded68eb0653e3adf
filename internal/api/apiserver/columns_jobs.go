package apiserver

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func init() {
	columnsOf["jobs.batch"] = append(append([]column{
		nameColumn,
		text("Status", jobStatus),
		text("Completions", completions),
		timed("Duration", func(j *batchv1.Job, now time.Time) any { return jobDuration(j, now) }),
		ageColumn,
	}, containerColumns(func(j *batchv1.Job) corev1.PodSpec { return j.Spec.Template.Spec })...),
		selectorColumn(func(j *batchv1.Job) *metav1.LabelSelector { return j.Spec.Selector }))
	columnsOf["cronjobs.batch"] = append(append([]column{
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
	columnsOf["poddisruptionbudgets.policy"] = []column{
		nameColumn,
		text("Min Available", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MinAvailable) }),
		text("Max Unavailable", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MaxUnavailable) }),
		show("Allowed Disruptions", "integer", func(b *policyv1.PodDisruptionBudget) any { return int64(b.Status.DisruptionsAllowed) }),
		ageColumn,
	}
}

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

func orNotApplicable(amount *intstr.IntOrString) string {
	if amount == nil {
		return "N/A"
	}
	return amount.String()
}

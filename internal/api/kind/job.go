package kind

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "batch", Version: "v1", Name: "Job",
		Categories: []string{"all"},
		traits:     withStatus | withGeneration, rules: jobRules,
		Columns: jobColumns,
		Fields: selectable(map[string]func(*batchv1.Job) string{
			"status.successful": func(j *batchv1.Job) string { return strconv.Itoa(int(j.Status.Succeeded)) },
		}),
		UnknownField: "field label %q not supported for Job",
		Warnings:     fromBoth(jobWarnings),

		OrphansDependents: true,
	})
}

var jobRules = rules[*batchv1.Job]{
	fill:           fillJob,
	admit:          admitJob,
	validate:       checkJob,
	validateUpdate: checkJobChange,
	passes:         []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
	validateStatus: checkJobStatus,
}

func fillJob(job *batchv1.Job) {
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		setDefault(&spec.Completions, 1)
	}
	setDefault(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		setDefault(&spec.BackoffLimit, math.MaxInt32)
	}
	setDefault(&spec.BackoffLimit, 6)
	if len(job.Labels) == 0 {
		job.Labels = maps.Clone(spec.Template.Labels)
	}
	setDefault(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setDefault(&spec.Suspend, false)
	if spec.PodFailurePolicy != nil {
		setDefault(&spec.PodReplacementPolicy, batchv1.Failed)
	}
	setDefault(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	setDefault(&spec.ManualSelector, false)
	fillJobTemplate(spec)
}

// fillJobTemplate sets the defaults of a cron job's template.
func fillJobTemplate(spec *batchv1.JobSpec) {
	if policy := spec.PodFailurePolicy; policy != nil {
		for i := range policy.Rules {
			for j := range policy.Rules[i].OnPodConditions {
				setEmpty(&policy.Rules[i].OnPodConditions[j].Status, corev1.ConditionTrue)
			}
		}
	}
	fillPodSpec(&spec.Template.Spec)
}

// admitJob copies the labels of a job's pods, including generated labels, to a job without labels.
// The real server sets this default again when it reads the stored job. Invalid labels are reported
// once, for the template.
func admitJob(_ admission, job *batchv1.Job) error {
	selectOwnPods(job)
	if labels := job.Spec.Template.Labels; len(job.Labels) == 0 && len(checkLabels(labels, nil)) == 0 {
		job.Labels = maps.Clone(labels)
	}
	return nil
}

// selectOwnPods gives the pods of a job unique labels and selects them by these labels, unless the
// user selects them. Validation checks existing labels.
func selectOwnPods(job *batchv1.Job) {
	if *job.Spec.ManualSelector {
		return
	}
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = map[string]string{}
	}
	for label, value := range ownLabels(job) { // any order: labels are independent
		if _, taken := job.Spec.Template.Labels[label]; !taken {
			job.Spec.Template.Labels[label] = value
		}
	}
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if _, taken := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !taken {
		metav1.AddLabelToSelector(job.Spec.Selector, batchv1.ControllerUidLabel, string(job.UID))
	}
}

// The labels of a job's pods in old releases: they have no domain.
const (
	oldControllerUIDLabel = "controller-uid"
	oldJobNameLabel       = "job-name"
)

func ownLabels(job *batchv1.Job) map[string]string {
	return map[string]string{
		batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name,
		oldControllerUIDLabel: string(job.UID), oldJobNameLabel: job.Name,
	}
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
	holds := func(kind batchv1.JobConditionType) bool { return hasJobCondition(job, kind) }
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

package cronjob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// start creates the due job, and schedules the next start.
func (c *Controller) start(p *kernel.Process, of cronJob) error {
	if of.DeletionTimestamp != nil || of.Spec.Suspend != nil && *of.Spec.Suspend {
		return nil
	}
	schedule, err := scheduleOf(of)
	if err != nil {
		c.Event(of, corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule: %q : %s", of.Spec.Schedule, err)
		return nil
	}
	now := c.Kernel.Now()
	at, missed, err := due(of, now, schedule)
	if err != nil {
		c.Event(of, corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule: %s : %s", of.Spec.Schedule, err)
		return nil
	}
	c.queue.AddAfter(store.KeyOf(of), next(now, schedule))
	c.warnOfMissed(of, missed)
	if at.IsZero() || !c.mayStart(of, at, now) {
		return nil
	}
	if of.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
		if err := c.replace(p, of); err != nil {
			return err
		}
	}
	return c.create(p, of, at)
}

// mayStart reports whether a due job may start. It may not be too late or exist already, and it may
// have to wait for the previous job.
func (c *Controller) mayStart(of cronJob, at, now time.Time) bool {
	deadline := of.Spec.StartingDeadlineSeconds
	switch {
	case deadline != nil && at.Add(time.Duration(*deadline)*time.Second).Before(now):
		c.Event(of, corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s", at.UTC().Format(time.RFC1123Z))
		return false
	case isActive(of, jobName(of, at)), of.Status.LastScheduleTime != nil && of.Status.LastScheduleTime.Time.Equal(at):
		return false
	case of.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(of.Status.Active) > 0:
		c.Event(of, corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return false
	}
	return true
}

// replace deletes the jobs that still run.
func (c *Controller) replace(p *kernel.Process, of cronJob) error {
	for _, ref := range slices.Clone(of.Status.Active) {
		job, there, err := live(p, c, store.Key{Namespace: ref.Namespace, Name: ref.Name})
		if err != nil {
			return err
		}
		if there {
			if err := c.remove(p, of, job); err != nil {
				return err
			}
		}
	}
	return nil
}

func live(p *kernel.Process, c *Controller, key store.Key) (*batchv1.Job, bool, error) {
	job, err := component.Live[*batchv1.Job](p, c.Component, key)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	return job, err == nil, err
}

func (c *Controller) remove(p *kernel.Process, of cronJob, job *batchv1.Job) error {
	_, err := component.Delete[*batchv1.Job](p, c.Component, store.KeyOf(job), store.Propagation(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		c.Event(of, corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
		return fmt.Errorf("could not replace job %s/%s: %w", job.Namespace, job.Name, err)
	}
	drop(of, job.UID)
	c.Event(of, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", job.Name)
	return nil
}

func (c *Controller) create(p *kernel.Process, of cronJob, at time.Time) error {
	made, err := component.Create(p, c.Component, jobOf(of, at))
	switch {
	case apierrors.IsAlreadyExists(err): // a killed controller created it
		there, found, err := live(p, c, store.Key{Namespace: of.Namespace, Name: jobName(of, at)})
		if err != nil || !found || !metav1.IsControlledBy(there, of) {
			return err
		}
		made = there
	case err != nil:
		if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			c.Event(of, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		}
		return err
	default:
		c.Event(of, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", made.Name)
	}
	of.Status.Active = append(of.Status.Active, corev1.ObjectReference{
		APIVersion: "batch/v1", Kind: "Job", Namespace: made.Namespace, Name: made.Name, UID: made.UID, ResourceVersion: made.ResourceVersion,
	})
	of.Status.LastScheduleTime = &metav1.Time{Time: at}
	return nil
}

func jobOf(of cronJob, at time.Time) *batchv1.Job {
	template := of.Spec.JobTemplate.DeepCopy()
	annotations := maps.Clone(template.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.Format(time.RFC3339)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: of.Namespace, Name: jobName(of, at), Labels: template.Labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, kind)},
		},
		Spec: template.Spec,
	}
}

// cleanUp deletes the oldest finished jobs beyond the number to keep.
func (c *Controller) cleanUp(p *kernel.Process, of cronJob, jobs []*batchv1.Job) error {
	limits := []struct {
		how  batchv1.JobConditionType
		most *int32
	}{{batchv1.JobComplete, of.Spec.SuccessfulJobsHistoryLimit}, {batchv1.JobFailed, of.Spec.FailedJobsHistoryLimit}}
	for _, l := range limits {
		if l.most == nil {
			continue
		}
		old := slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { is, _ := finished(job); return is != l.how })
		slices.SortFunc(old, func(a, b *batchv1.Job) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		for _, job := range old[:max(0, len(old)-int(*l.most))] {
			if err := c.remove(p, of, job); err != nil {
				return err
			}
		}
	}
	return nil
}

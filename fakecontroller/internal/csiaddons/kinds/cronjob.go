package kinds

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CronJob holds the fields that ReclaimSpaceCronJob and EncryptionKeyRotationCronJob share. A-RS-10
type CronJob struct {
	Fields[CronJobSpec, CronJobStatus] `json:",inline"`
}

// CronJobSpec has the schedule of jobs.
type CronJobSpec struct {
	Schedule                string `json:"schedule"`
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`
	ConcurrencyPolicy       string `json:"concurrencyPolicy,omitempty"`
	Suspend                 *bool  `json:"suspend,omitempty"`
	JobTemplate             struct {
		metav1.ObjectMeta `json:"metadata,omitempty"`
		Spec              JobSpec `json:"spec"`
	} `json:"jobTemplate"`
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`
	FailedJobsHistoryLimit     *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// CronJobStatus holds the previous jobs.
type CronJobStatus struct {
	Active             *corev1.ObjectReference `json:"active,omitempty"`
	LastScheduleTime   *metav1.Time            `json:"lastScheduleTime,omitempty"`
	LastSuccessfulTime *metav1.Time            `json:"lastSuccessfulTime,omitempty"`
}

// Shared returns the fields of both kinds of cron jobs.
func (c *CronJob) Shared() *CronJob { return c }

// ReclaimSpaceCronJob makes ReclaimSpaceJobs.
type ReclaimSpaceCronJob struct {
	CronJob `json:",inline"`
}

// Of returns the kind of the object.
func (*ReclaimSpaceCronJob) Of() schema.GroupVersionKind { return of("ReclaimSpaceCronJob") }

// KeyRotationCronJob makes EncryptionKeyRotationJobs.
type KeyRotationCronJob struct {
	CronJob `json:",inline"`
}

// Of returns the kind of the object.
func (*KeyRotationCronJob) Of() schema.GroupVersionKind { return of("EncryptionKeyRotationCronJob") }

package kinds

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// JobSpec is the spec of the jobs. A-RS-1, A-EKR-1
type JobSpec struct {
	Target struct {
		Claim string `json:"persistentVolumeClaim,omitempty"`
	} `json:"target"`
	BackoffLimit         int32  `json:"backOffLimit"`
	RetryDeadlineSeconds int64  `json:"retryDeadlineSeconds"`
	Timeout              *int64 `json:"timeout,omitempty"`
}

// JobStatus is the status of the jobs.
type JobStatus struct {
	Result         string             `json:"result,omitempty"`
	Message        string             `json:"message,omitempty"`
	ReclaimedSpace *resource.Quantity `json:"reclaimedSpace,omitempty"`
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
	Retries        int32              `json:"retries,omitempty"`
	StartTime      *metav1.Time       `json:"startTime,omitempty"`
	CompletionTime *metav1.Time       `json:"completionTime,omitempty"`
}

// Job holds the fields that ReclaimSpaceJob and EncryptionKeyRotationJob share.
type Job struct {
	Fields[JobSpec, JobStatus] `json:",inline"`
}

// Shared returns the fields of both kinds of jobs.
func (j *Job) Shared() *Job { return j }

// ReclaimSpaceJob frees space of a volume. A-RS-1
type ReclaimSpaceJob struct {
	Job `json:",inline"`
}

// Of returns the kind of the object.
func (*ReclaimSpaceJob) Of() schema.GroupVersionKind { return of("ReclaimSpaceJob") }

// KeyRotationJob changes the key of a volume. A-EKR-1
type KeyRotationJob struct {
	Job `json:",inline"`
}

// Of returns the kind of the object.
func (*KeyRotationJob) Of() schema.GroupVersionKind { return of("EncryptionKeyRotationJob") }

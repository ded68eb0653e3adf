// Package kinds has the kinds of CSI-Addons as Go types. A field that is written although
// it is empty has no omitempty: the project's programs write objects as a whole, and what
// that adds to a spec makes another generation of it. A-NF-2, A-VR-6
package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/definition/csiaddons"
)

// Object is an object of one of the kinds.
type Object interface {
	metav1.Object
	// Of is its kind.
	Of() schema.GroupVersionKind
}

func of(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: csiaddons.Group, Version: csiaddons.Version, Kind: kind}
}

func ofReplication(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: csiaddons.ReplicationGroup, Version: csiaddons.Version, Kind: kind}
}

// Node is a CSIAddonsNode. A-NODE-1
type Node struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeSpec   `json:"spec,omitempty"`
	Status NodeStatus `json:"status,omitempty"`
}

// NodeSpec is what a sidecar says of itself.
type NodeSpec struct {
	Driver struct {
		Name     string `json:"name"`
		EndPoint string `json:"endpoint"`
		NodeID   string `json:"nodeID"`
	} `json:"driver"`
}

// NodeStatus is what became of the connection.
type NodeStatus struct {
	State         string         `json:"state,omitempty"`
	Message       string         `json:"message,omitempty"`
	Reason        string         `json:"reason,omitempty"`
	Capabilities  []string       `json:"capabilities,omitempty"`
	ClientsByNode []FenceClients `json:"networkFenceClientStatus,omitempty"`
}

// FenceClients are the clients that the driver named for one class.
type FenceClients struct {
	Class   string        `json:"networkFenceClassName"`
	Clients []FenceClient `json:"ClientDetails"`
}

// FenceClient is a client of the storage system.
type FenceClient struct {
	ID    string   `json:"id"`
	CIDRs []string `json:"cidrs"`
}

// Of is the kind.
func (*Node) Of() schema.GroupVersionKind { return of("CSIAddonsNode") }

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

// Job is what ReclaimSpaceJob and EncryptionKeyRotationJob have in common.
type Job struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   JobSpec   `json:"spec"`
	Status JobStatus `json:"status,omitempty"`
}

// Shared is what both kinds of jobs have.
func (j *Job) Shared() *Job { return j }

// ReclaimSpaceJob frees space of a volume. A-RS-1
type ReclaimSpaceJob struct {
	Job `json:",inline"`
}

// Of is the kind.
func (*ReclaimSpaceJob) Of() schema.GroupVersionKind { return of("ReclaimSpaceJob") }

// KeyRotationJob changes the key of a volume. A-EKR-1
type KeyRotationJob struct {
	Job `json:",inline"`
}

// Of is the kind.
func (*KeyRotationJob) Of() schema.GroupVersionKind { return of("EncryptionKeyRotationJob") }

// CronJob is what ReclaimSpaceCronJob and EncryptionKeyRotationCronJob have in common. A-RS-10
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CronJobSpec   `json:"spec"`
	Status CronJobStatus `json:"status"`
}

// CronJobSpec says when jobs begin.
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

// CronJobStatus is the jobs so far.
type CronJobStatus struct {
	Active             *corev1.ObjectReference `json:"active,omitempty"`
	LastScheduleTime   *metav1.Time            `json:"lastScheduleTime,omitempty"`
	LastSuccessfulTime *metav1.Time            `json:"lastSuccessfulTime,omitempty"`
}

// Shared is what both kinds of cron jobs have.
func (c *CronJob) Shared() *CronJob { return c }

// ReclaimSpaceCronJob makes ReclaimSpaceJobs.
type ReclaimSpaceCronJob struct {
	CronJob `json:",inline"`
}

// Of is the kind.
func (*ReclaimSpaceCronJob) Of() schema.GroupVersionKind { return of("ReclaimSpaceCronJob") }

// KeyRotationCronJob makes EncryptionKeyRotationJobs.
type KeyRotationCronJob struct {
	CronJob `json:",inline"`
}

// Of is the kind.
func (*KeyRotationCronJob) Of() schema.GroupVersionKind { return of("EncryptionKeyRotationCronJob") }

// NetworkFence keeps clients off the storage. A-NF-1
type NetworkFence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NetworkFenceSpec   `json:"spec"`
	Status NetworkFenceStatus `json:"status,omitempty"`
}

// NetworkFenceSpec says who.
type NetworkFenceSpec struct {
	NetworkFenceClassName string   `json:"networkFenceClassName"`
	Driver                string   `json:"driver"`
	FenceState            string   `json:"fenceState"`
	CIDRs                 []string `json:"cidrs"`
	Secret                struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	} `json:"secret,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
}

// NetworkFenceStatus is what came of it.
type NetworkFenceStatus struct {
	Result     string             `json:"result,omitempty"`
	Message    string             `json:"message,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Of is the kind.
func (*NetworkFence) Of() schema.GroupVersionKind { return of("NetworkFence") }

// Class is what the classes have in common. A-NF-6, A-VR-1, A-VGR-1
type Class struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Provisioner string            `json:"provisioner"`
		Parameters  map[string]string `json:"parameters,omitempty"`
	} `json:"spec"`
}

// NetworkFenceClass says how clients are fenced.
type NetworkFenceClass struct {
	Class `json:",inline"`
}

// Of is the kind.
func (*NetworkFenceClass) Of() schema.GroupVersionKind { return of("NetworkFenceClass") }

// VolumeReplicationClass says how volumes are replicated.
type VolumeReplicationClass struct {
	Class `json:",inline"`
}

// Of is the kind.
func (*VolumeReplicationClass) Of() schema.GroupVersionKind {
	return ofReplication("VolumeReplicationClass")
}

// GroupReplicationClass is a VolumeGroupReplicationClass: it says how volumes are grouped.
type GroupReplicationClass struct {
	Class `json:",inline"`
}

// Of is the kind.
func (*GroupReplicationClass) Of() schema.GroupVersionKind {
	return ofReplication("VolumeGroupReplicationClass")
}

package kinds

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// VolumeReplication keeps a copy of a volume, or of a group of volumes. A-VR-2
type VolumeReplication struct {
	Fields[VolumeReplicationSpec, ReplicationStatus] `json:",inline"`
}

// VolumeReplicationSpec describes the replication.
type VolumeReplicationSpec struct {
	VolumeReplicationClass string                           `json:"volumeReplicationClass"`
	ReplicationState       string                           `json:"replicationState"`
	DataSource             corev1.TypedLocalObjectReference `json:"dataSource"`
	AutoResync             bool                             `json:"autoResync"`
	ReplicationHandle      string                           `json:"replicationHandle"`
}

// ReplicationStatus is the status of a replication.
type ReplicationStatus struct {
	State               string             `json:"state,omitempty"`
	Message             string             `json:"message,omitempty"`
	Conditions          []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration  int64              `json:"observedGeneration,omitempty"`
	LastStartTime       *metav1.Time       `json:"lastStartTime,omitempty"`
	LastCompletionTime  *metav1.Time       `json:"lastCompletionTime,omitempty"`
	LastSyncTime        *metav1.Time       `json:"lastSyncTime,omitempty"`
	LastSyncBytes       *int64             `json:"lastSyncBytes,omitempty"`
	LastSyncDuration    *metav1.Duration   `json:"lastSyncDuration,omitempty"`
	DestinationVolumeID string             `json:"destinationVolumeID,omitempty"`
}

// Of returns the kind of the object.
func (*VolumeReplication) Of() schema.GroupVersionKind { return ofReplication("VolumeReplication") }

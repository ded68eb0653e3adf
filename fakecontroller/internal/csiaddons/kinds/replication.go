package kinds

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// VolumeReplication keeps a copy of a volume, or of a group of volumes. A-VR-2
type VolumeReplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   VolumeReplicationSpec `json:"spec"`
	Status ReplicationStatus     `json:"status,omitempty"`
}

// VolumeReplicationSpec says of what.
type VolumeReplicationSpec struct {
	VolumeReplicationClass string                           `json:"volumeReplicationClass"`
	ReplicationState       string                           `json:"replicationState"`
	DataSource             corev1.TypedLocalObjectReference `json:"dataSource"`
	AutoResync             bool                             `json:"autoResync"`
	ReplicationHandle      string                           `json:"replicationHandle"`
}

// ReplicationStatus is how far a replication is.
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

// Of is the kind.
func (*VolumeReplication) Of() schema.GroupVersionKind { return ofReplication("VolumeReplication") }

// GroupReplication is a VolumeGroupReplication. A-VGR-1
type GroupReplication struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GroupReplicationSpec   `json:"spec,omitempty"`
	Status GroupReplicationStatus `json:"status,omitempty"`
}

// GroupReplicationSpec says which volumes.
type GroupReplicationSpec struct {
	ClassName            string `json:"volumeGroupReplicationClassName"`
	ReplicationClassName string `json:"volumeReplicationClassName"`
	ReplicationName      string `json:"volumeReplicationName,omitempty"`
	ContentName          string `json:"volumeGroupReplicationContentName,omitempty"`
	Source               struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"source"`
	ReplicationState string `json:"replicationState"`
	AutoResync       bool   `json:"autoResync"`
	External         bool   `json:"external,omitempty"`
}

// GroupReplicationStatus is how far it is.
type GroupReplicationStatus struct {
	ReplicationStatus `json:",inline"`

	Claims []corev1.LocalObjectReference `json:"persistentVolumeClaimsRefList,omitempty"`
}

// Of is the kind.
func (*GroupReplication) Of() schema.GroupVersionKind { return ofReplication("VolumeGroupReplication") }

// GroupContent is a VolumeGroupReplicationContent. A-VGR-1
type GroupContent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GroupContentSpec   `json:"spec,omitempty"`
	Status GroupContentStatus `json:"status,omitempty"`
}

// GroupContentSpec is the group.
type GroupContentSpec struct {
	Ref         *corev1.ObjectReference `json:"volumeGroupReplicationRef,omitempty"`
	Handle      string                  `json:"volumeGroupReplicationHandle"`
	Provisioner string                  `json:"provisioner"`
	ClassName   string                  `json:"volumeGroupReplicationClassName"`
	Attributes  map[string]string       `json:"volumeGroupAttributes,omitempty"`
	Source      struct {
		VolumeHandles []string `json:"volumeHandles"`
	} `json:"source"`
}

// GroupContentStatus is what is known of it.
type GroupContentStatus struct {
	Volumes       []corev1.LocalObjectReference `json:"persistentVolumeRefList,omitempty"`
	Mapping       []VolumeMapping               `json:"persistentVolumeMappingList,omitempty"`
	DestinationID string                        `json:"destinationVolumeGroupID,omitempty"`
}

// VolumeMapping is a volume of the group and its copy.
type VolumeMapping struct {
	Name              string `json:"name"`
	Handle            string `json:"volumeHandle"`
	DestinationHandle string `json:"destinationVolumeHandle,omitempty"`
}

// Of is the kind.
func (*GroupContent) Of() schema.GroupVersionKind {
	return ofReplication("VolumeGroupReplicationContent")
}

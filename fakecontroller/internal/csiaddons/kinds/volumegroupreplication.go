package kinds

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupReplication is a VolumeGroupReplication. A-VGR-1
type GroupReplication struct {
	Fields[GroupReplicationSpec, GroupReplicationStatus] `json:",inline"`
}

// GroupReplicationSpec selects the volumes.
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

// GroupReplicationStatus is the status of a group's replication.
type GroupReplicationStatus struct {
	ReplicationStatus `json:",inline"`

	Claims []corev1.LocalObjectReference `json:"persistentVolumeClaimsRefList,omitempty"`
}

// Of returns the kind of the object.
func (*GroupReplication) Of() schema.GroupVersionKind { return ofReplication("VolumeGroupReplication") }

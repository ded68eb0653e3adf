package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Class holds the fields that all classes share. A-NF-6, A-VR-1, A-VGR-1
type Class struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Provisioner string            `json:"provisioner"`
		Parameters  map[string]string `json:"parameters,omitempty"`
	} `json:"spec"`
}

// NetworkFenceClass describes how clients are fenced.
type NetworkFenceClass struct {
	Class `json:",inline"`
}

// Of returns the kind of the object.
func (*NetworkFenceClass) Of() schema.GroupVersionKind { return of("NetworkFenceClass") }

// VolumeReplicationClass describes how volumes are replicated.
type VolumeReplicationClass struct {
	Class `json:",inline"`
}

// Of returns the kind of the object.
func (*VolumeReplicationClass) Of() schema.GroupVersionKind {
	return ofReplication("VolumeReplicationClass")
}

// GroupReplicationClass is a VolumeGroupReplicationClass, which describes how volumes are grouped.
type GroupReplicationClass struct {
	Class `json:",inline"`
}

// Of returns the kind of the object.
func (*GroupReplicationClass) Of() schema.GroupVersionKind {
	return ofReplication("VolumeGroupReplicationClass")
}

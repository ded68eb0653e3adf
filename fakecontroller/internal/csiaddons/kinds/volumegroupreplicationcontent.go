package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupContent is a VolumeGroupReplicationContent. A-VGR-1
type GroupContent struct {
	Fields[GroupContentSpec, GroupContentStatus] `json:",inline"`
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

// GroupContentStatus is the known state of a VolumeGroupReplicationContent.
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

// Of returns the kind of the object.
func (*GroupContent) Of() schema.GroupVersionKind {
	return ofReplication("VolumeGroupReplicationContent")
}

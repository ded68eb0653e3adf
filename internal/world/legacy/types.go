package legacy

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds. L-OBJ-1
var GroupVersion = schema.GroupVersion{Group: "csi.storage.k8s.io", Version: "v1alpha1"}

// CSINodeInfo lists the drivers of a node. It has the node's name. Both lists have one entry per
// driver. L-OBJ-3
type CSINodeInfo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CSINodeInfoSpec   `json:"spec"`
	Status            CSINodeInfoStatus `json:"status"`
}

// CSINodeInfoSpec describes the installed drivers and does not change afterwards. L-OBJ-5
type CSINodeInfoSpec struct {
	Drivers []DriverSpec `json:"drivers"`
}

// DriverSpec is a driver's description from its registration.
type DriverSpec struct {
	Name         string   `json:"name"`
	NodeID       string   `json:"nodeID"`
	TopologyKeys []string `json:"topologyKeys"`
}

// CSINodeInfoStatus is the part that causes reactions of components.
type CSINodeInfoStatus struct {
	Drivers []DriverStatus `json:"drivers"`
}

// DriverStatus describes whether a driver is available, and whether the driver or the in-tree
// plugin that it replaces handles the plugin's volumes.
type DriverStatus struct {
	Name                  string    `json:"name"`
	Available             bool      `json:"available"`
	VolumePluginMechanism Mechanism `json:"volumePluginMechanism"`
}

// Mechanism handles in-tree volumes. L-OBJ-4
type Mechanism string

// The mechanisms.
const (
	InTree Mechanism = "in-tree" // the in-tree plugin
	CSI    Mechanism = "csi"     // the driver
)

// CSIDriver describes a driver. L-OBJ-6
type CSIDriver struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CSIDriverSpec `json:"spec"`
}

// CSIDriverSpec has the driver's settings for Kubernetes.
type CSIDriverSpec struct {
	AttachRequired        *bool   `json:"attachRequired"`
	PodInfoOnMountVersion *string `json:"podInfoOnMountVersion"`
}

// DeepCopy copies the object.
func (n *CSINodeInfo) DeepCopy() *CSINodeInfo {
	c := *n
	n.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Drivers = slices.Clone(n.Spec.Drivers)
	for i := range c.Spec.Drivers {
		c.Spec.Drivers[i].TopologyKeys = slices.Clone(n.Spec.Drivers[i].TopologyKeys)
	}
	c.Status.Drivers = slices.Clone(n.Status.Drivers)
	return &c
}

// DeepCopyObject is DeepCopy.
func (n *CSINodeInfo) DeepCopyObject() runtime.Object { return n.DeepCopy() }

// DeepCopy copies the object.
func (d *CSIDriver) DeepCopy() *CSIDriver {
	c := *d
	d.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.AttachRequired = cloned(d.Spec.AttachRequired)
	c.Spec.PodInfoOnMountVersion = cloned(d.Spec.PodInfoOnMountVersion)
	return &c
}

// DeepCopyObject is DeepCopy.
func (d *CSIDriver) DeepCopyObject() runtime.Object { return d.DeepCopy() }

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Package legacy has the kinds of csi.storage.k8s.io/v1alpha1, which Kubernetes v1.13 had instead
// of CSINode. It also has the conventions about them that the kubelet, the attach/detach controller
// and the sidecars share.
package legacy

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Options select the behaviour of a cluster of an old version. The zero value is the old default.
type Options struct {
	// CreateOnStartup makes kubelets older than v1.17 write their node's object when they start.
	// They are not Ready until it exists. L-START-2
	CreateOnStartup bool
	// AnnounceMigrated makes kubelets list the drivers of migrated plugins as unavailable before
	// these drivers register. L-START-3
	AnnounceMigrated bool
	// NoBackoff makes the attach/detach controller poll for the object every 100 ms instead of
	// backing off after a failed operation, as in v1.14. L-ADC-5
	NoBackoff bool
	// AttachOptional makes a CSIDriver without attachRequired mean a driver without attaching, as
	// in the documentation. L-OBJ-7
	AttachOptional bool
	// NoCRD omits the CustomResourceDefinitions. Then each write of a CSINodeInfo fails, and so
	// does the registration. L-LIFE-8
	NoCRD bool
}

// Driver returns the entry of a driver, false if there is none.
func (n *CSINodeInfo) Driver(name string) (DriverStatus, bool) {
	i := slices.IndexFunc(n.Status.Drivers, func(d DriverStatus) bool { return d.Name == name })
	if i < 0 {
		return DriverStatus{}, false
	}
	return n.Status.Drivers[i], true
}

// AsCSINode converts the object to a CSINode for consumers that ignore availability. It converts
// only the spec. L-ATT-1, L-PROV-1
func (n *CSINodeInfo) AsCSINode() *storagev1.CSINode {
	node := &storagev1.CSINode{ObjectMeta: n.ObjectMeta}
	for _, d := range n.Spec.Drivers {
		node.Spec.Drivers = append(node.Spec.Drivers, storagev1.CSINodeDriver{Name: d.Name, NodeID: d.NodeID, TopologyKeys: d.TopologyKeys})
	}
	return node
}

// podInfoVersion is the only version of pod information. L-OBJ-8
const podInfoVersion = "v1"

// AsCSIDriver converts the object to its later form. L-OBJ-7, L-OBJ-8
func (d *CSIDriver) AsCSIDriver(o Options) *storagev1.CSIDriver {
	attach := !o.AttachOptional
	if d.Spec.AttachRequired != nil {
		attach = *d.Spec.AttachRequired
	}
	info := d.Spec.PodInfoOnMountVersion != nil && *d.Spec.PodInfoOnMountVersion == podInfoVersion
	return &storagev1.CSIDriver{ObjectMeta: d.ObjectMeta, Spec: storagev1.CSIDriverSpec{
		AttachRequired: &attach, PodInfoOnMount: &info,
		VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
	}}
}

// FromCSIDriver converts a CSIDriver to the fields of that time.
func FromCSIDriver(d *storagev1.CSIDriver) *CSIDriver {
	old := &CSIDriver{ObjectMeta: d.ObjectMeta}
	old.Spec.AttachRequired = d.Spec.AttachRequired
	if d.Spec.PodInfoOnMount != nil && *d.Spec.PodInfoOnMount {
		version := podInfoVersion
		old.Spec.PodInfoOnMountVersion = &version
	}
	return old
}

// nodeIDAnnotation has the node's ids, one per driver, as a JSON map.
const nodeIDAnnotation = "csi.volume.kubernetes.io/nodeid"

// NodeID returns the driver's id of a node in the Node's annotation. L-ATT-1
func NodeID(node *corev1.Node, driver string) (string, error) {
	var ids map[string]string
	if err := json.Unmarshal([]byte(node.Annotations[nodeIDAnnotation]), &ids); err != nil {
		return "", fmt.Errorf("node %s has no usable annotation %s: %w", node.Name, nodeIDAnnotation, err)
	}
	id, ok := ids[driver]
	if !ok {
		return "", fmt.Errorf("node %s has no id with driver %s", node.Name, driver)
	}
	return id, nil
}

// Parts of the name of the node resource that holds an attach limit. L-NEXT-3
const (
	limitPrefix  = "attachable-volumes-csi-"
	maxLimitName = 63
	keptOfName   = 23
	keptOfHash   = 16
)

// LimitName returns the resource name of a driver's attach limit in a Node's capacity. L-NEXT-3
func LimitName(driver string) corev1.ResourceName {
	if len(limitPrefix)+len(driver) < maxLimitName {
		return corev1.ResourceName(limitPrefix + driver)
	}
	sum := sha1.Sum([]byte(driver))
	return corev1.ResourceName(limitPrefix + driver[:keptOfName] + hex.EncodeToString(sum[:])[:keptOfHash])
}

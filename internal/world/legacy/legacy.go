// Package legacy holds what Kubernetes v1.13 had where later releases have CSINode:
// the kinds of csi.storage.k8s.io/v1alpha1 and what the kubelet, the attach/detach
// controller and the sidecars must agree on about them.
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

// Options are what a cluster of an old version does otherwise. The zero value is as
// it was by default.
type Options struct {
	// CreateOnStartup makes kubelets older than v1.17 write their node's object when
	// they start, and be not Ready until it is there. L-START-2
	CreateOnStartup bool
	// AnnounceMigrated makes them then list the drivers of migrated plugins, as not
	// available, before these register. L-START-3
	AnnounceMigrated bool
	// NoBackoff makes the attach/detach controller look for the object every 100 ms
	// and not with the backoff of a failed operation, as v1.14 does. L-ADC-5
	NoBackoff bool
	// AttachOptional takes a CSIDriver that does not say attachRequired for one of a
	// driver without attach, as was documented. L-OBJ-7
	AttachOptional bool
	// NoCRD leaves the CustomResourceDefinitions out: every write of a CSINodeInfo
	// fails, and with it the registration. L-LIFE-8
	NoCRD bool
}

// Driver is the entry of a driver, false if there is none.
func (n *CSINodeInfo) Driver(name string) (DriverStatus, bool) {
	i := slices.IndexFunc(n.Status.Drivers, func(d DriverStatus) bool { return d.Name == name })
	if i < 0 {
		return DriverStatus{}, false
	}
	return n.Status.Drivers[i], true
}

// AsCSINode is the object as consumers that know of no availability read it: its
// spec. L-ATT-1, L-PROV-1
func (n *CSINodeInfo) AsCSINode() *storagev1.CSINode {
	node := &storagev1.CSINode{ObjectMeta: n.ObjectMeta}
	for _, d := range n.Spec.Drivers {
		node.Spec.Drivers = append(node.Spec.Drivers, storagev1.CSINodeDriver{Name: d.Name, NodeID: d.NodeID, TopologyKeys: d.TopologyKeys})
	}
	return node
}

// podInfoVersion is the only version of pod information. L-OBJ-8
const podInfoVersion = "v1"

// AsCSIDriver is the object in its later form. L-OBJ-7, L-OBJ-8
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

// FromCSIDriver is what of a CSIDriver could be said at that time.
func FromCSIDriver(d *storagev1.CSIDriver) *CSIDriver {
	old := &CSIDriver{ObjectMeta: d.ObjectMeta}
	old.Spec.AttachRequired = d.Spec.AttachRequired
	if d.Spec.PodInfoOnMount != nil && *d.Spec.PodInfoOnMount {
		version := podInfoVersion
		old.Spec.PodInfoOnMountVersion = &version
	}
	return old
}

// nodeIDAnnotation holds the node's id with each driver, as a JSON map.
const nodeIDAnnotation = "csi.volume.kubernetes.io/nodeid"

// NodeID is the driver's id of a node as the Node has it. L-ATT-1
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

// Parts of the name of a node's resource that is an attach limit. L-NEXT-3
const (
	limitPrefix  = "attachable-volumes-csi-"
	maxLimitName = 63
	keptOfName   = 23
	keptOfHash   = 16
)

// LimitName is the resource, in a Node's capacity, that is a driver's attach limit. L-NEXT-3
func LimitName(driver string) corev1.ResourceName {
	if len(limitPrefix)+len(driver) < maxLimitName {
		return corev1.ResourceName(limitPrefix + driver)
	}
	sum := sha1.Sum([]byte(driver))
	return corev1.ResourceName(limitPrefix + driver[:keptOfName] + hex.EncodeToString(sum[:])[:keptOfHash])
}

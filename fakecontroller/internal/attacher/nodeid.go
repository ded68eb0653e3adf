package attacher

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

// nodeID returns the driver's id of a node. C-ATT-25: if the node does not run the driver and no
// attachment has the id, it returns an error.
func (r *run) nodeID(p *kernel.Process, node string, fallback *storagev1.VolumeAttachment) (string, error) {
	if !r.Began.Has(version.CSINode) {
		return r.oldNodeID(p, node, fallback)
	}
	csiNode, ok := component.Cached[*storagev1.CSINode](r.Component, store.Key{Name: node})
	if ok {
		if id, ok := idIn(csiNode, r.features.driver); ok {
			return id, nil
		}
	}
	if fallback != nil && fallback.Annotations[volume.NodeIDAnnotation] != "" {
		return fallback.Annotations[volume.NodeIDAnnotation], nil
	}
	if !ok {
		return "", store.NotFound[*storagev1.CSINode](store.Key{Name: node})
	}
	return "", fmt.Errorf("CSINode %s does not contain driver %s", node, r.features.driver)
}

func idIn(node *storagev1.CSINode, driver string) (string, bool) {
	for _, d := range node.Spec.Drivers {
		if d.Name == driver {
			return d.NodeID, true
		}
	}
	return "", false
}

// oldNodeID finds the id like sidecars before CSINodes existed. It ignores whether the driver is
// available. Without the object it reads the id from the Node. L-ATT-1, L-ATT-2
func (r *run) oldNodeID(p *kernel.Process, name string, fallback *storagev1.VolumeAttachment) (string, error) {
	key := store.Key{Name: name}
	if info, err := component.Live[*legacy.CSINodeInfo](p, r.Component, key); err == nil {
		if id, ok := idIn(info.AsCSINode(), r.features.driver); ok {
			return id, nil
		}
	}
	node, ok := component.Cached[*corev1.Node](r.Component, key)
	switch {
	case ok:
		return legacy.NodeID(node, r.features.driver)
	case fallback != nil && fallback.Annotations[volume.NodeIDAnnotation] != "":
		return fallback.Annotations[volume.NodeIDAnnotation], nil
	}
	return "", store.NotFound[*corev1.Node](key)
}

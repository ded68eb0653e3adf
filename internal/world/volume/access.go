package volume

import (
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
)

type mode = csi.VolumeCapability_AccessMode_Mode

// NodeAccessMode returns the access mode of the kubelet's requests, which depends only on the PV's
// first mode. K-RPC-6
func NodeAccessMode(modes []corev1.PersistentVolumeAccessMode, singleNodeMultiWriter bool) mode {
	first := corev1.ReadWriteOnce
	if len(modes) > 0 {
		first = modes[0]
	}
	return one(first, singleNodeMultiWriter)
}

func one(m corev1.PersistentVolumeAccessMode, singleNodeMultiWriter bool) mode {
	switch m {
	case corev1.ReadWriteOnce:
		if singleNodeMultiWriter {
			return csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
		}
		return csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	case corev1.ReadWriteOncePod:
		if singleNodeMultiWriter {
			return csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER
		}
		return csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	case corev1.ReadOnlyMany:
		return csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
	case corev1.ReadWriteMany:
		return csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	default:
		return csi.VolumeCapability_AccessMode_UNKNOWN
	}
}

// ControllerAccessMode returns the access mode of a sidecar's requests, from all modes of the claim
// or PV. C-LIB-6
func ControllerAccessMode(modes []corev1.PersistentVolumeAccessMode, singleNodeMultiWriter bool) (mode, error) {
	has := func(m corev1.PersistentVolumeAccessMode) bool { return slices.Contains(modes, m) }
	switch {
	case len(modes) == 0:
		return 0, fmt.Errorf("no access mode is given")
	case has(corev1.ReadWriteOncePod) && len(modes) > 1:
		return 0, fmt.Errorf("access mode ReadWriteOncePod cannot be combined with others: %v", modes)
	case has(corev1.ReadWriteOncePod):
		return one(corev1.ReadWriteOncePod, singleNodeMultiWriter), nil
	case has(corev1.ReadWriteMany):
		return one(corev1.ReadWriteMany, singleNodeMultiWriter), nil
	case has(corev1.ReadOnlyMany) && has(corev1.ReadWriteOnce):
		return 0, fmt.Errorf("access modes ReadOnlyMany and ReadWriteOnce cannot be combined")
	default:
		return one(modes[0], singleNodeMultiWriter), nil
	}
}

// Capability returns the CSI volume capability of a PV or claim. Nearly all volumes share one
// instance, which must not be modified.
func Capability(block bool, fsType string, mountFlags []string, m mode) *csi.VolumeCapability {
	if len(mountFlags) == 0 {
		if usual := usualCapabilities[asked{block, fsType, m}]; usual != nil {
			return usual
		}
	}
	return capability(block, fsType, mountFlags, m)
}

// asked identifies a capability without mount flags.
type asked struct {
	block  bool
	fsType string
	mode   mode
}

var usualCapabilities = func() map[asked]*csi.VolumeCapability {
	usual := map[asked]*csi.VolumeCapability{}
	// In any order: the result is a map.
	for m := range csi.VolumeCapability_AccessMode_Mode_name {
		for _, fsType := range []string{"", "ext4", "xfs"} {
			usual[asked{false, fsType, mode(m)}] = capability(false, fsType, nil, mode(m))
		}
		usual[asked{true, "", mode(m)}] = capability(true, "", nil, mode(m))
	}
	return usual
}()

func capability(block bool, fsType string, mountFlags []string, m mode) *csi.VolumeCapability {
	c := &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: m}}
	if block {
		c.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
	} else {
		c.AccessType = &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{FsType: fsType, MountFlags: mountFlags}}
	}
	return c
}

// IsBlock reports whether a volume mode is Block; none means Filesystem.
func IsBlock(m *corev1.PersistentVolumeMode) bool {
	return m != nil && *m == corev1.PersistentVolumeBlock
}

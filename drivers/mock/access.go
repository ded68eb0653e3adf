package mock

import (
	"google.golang.org/protobuf/proto"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

type accessMode = csi.VolumeCapability_AccessMode_Mode

// definesWriters reports whether a mode belongs to the capability SINGLE_NODE_MULTI_WRITER.
func definesWriters(m accessMode) bool {
	return m == csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER ||
		m == csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
}

func multiNode(m accessMode) bool {
	switch m {
	case csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY,
		csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER,
		csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER:
		return true
	}
	return false
}

// severalTargets reports whether a mode permits a second NodePublishVolume on the node, according
// to the two tables of CSI "NodePublishVolume".
func severalTargets(m accessMode) bool {
	return multiNode(m) || m == csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
}

// supports reports whether a volume can be used with a capability. A block device cannot be used as
// a file system, or a file system as a device. Only a volume that was created for several nodes can
// be used on several. The single-node modes are interchangeable, since an administrator may narrow
// a volume later (ReadWriteOncePod).
func (v *volume) supports(c *csi.VolumeCapability) bool {
	if len(v.capabilities) == 0 {
		return true
	}
	for _, made := range v.capabilities {
		sameType := (made.GetBlock() != nil) == (c.GetBlock() != nil)
		reach := multiNode(made.GetAccessMode().GetMode()) || !multiNode(c.GetAccessMode().GetMode())
		if sameType && reach {
			return true
		}
	}
	return false
}

func (v *volume) supportsAll(list []*csi.VolumeCapability) bool {
	for _, c := range list {
		if !v.supports(c) {
			return false
		}
	}
	return true
}

// sameUse compares the arguments of a repeated call, by CSI "NodePublishVolume Errors".
func sameUse(a *csi.VolumeCapability, aReadOnly bool, b *csi.VolumeCapability, bReadOnly bool) bool {
	return aReadOnly == bReadOnly && proto.Equal(a, b)
}

// maxAlike bounds the shared capabilities of a driver. Beyond it, the list starts again.
const maxAlike = 16

// alike returns the shared instance of a capability, because very many volumes have equal
// capabilities.
func (d *Driver) alike(c *csi.VolumeCapability) *csi.VolumeCapability {
	for _, known := range d.used {
		if proto.Equal(known, c) {
			return known
		}
	}
	if len(d.used) == maxAlike {
		d.used = nil
	}
	d.used = append(d.used, c)
	return d.used[len(d.used)-1]
}

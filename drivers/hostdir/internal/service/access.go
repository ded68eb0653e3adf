//go:build linux

package service

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
)

// access is the way in which a caller will use a volume.
type access struct {
	block   bool
	mode    csi.VolumeCapability_AccessMode_Mode
	options []string
	flags   mount.Flags
}

func readAccess(c *csi.VolumeCapability) (access, error) {
	if c == nil {
		return access{}, invalid("volume_capability is required")
	}
	a := access{block: c.GetBlock() != nil, mode: c.GetAccessMode().GetMode()}
	if !a.block && c.GetMount() == nil {
		return access{}, invalid("volume_capability has no access_type")
	}
	if a.mode == csi.VolumeCapability_AccessMode_UNKNOWN {
		return access{}, invalid("volume_capability has no access_mode")
	}
	a.options = c.GetMount().GetMountFlags()
	flags, err := mount.ParseFlags(a.options)
	if err != nil {
		return access{}, invalid("volume_capability: %v", err)
	}
	a.flags = flags
	return a, nil
}

// readAccesses reads the capabilities of a new volume; a volume is either a block device or a file
// system.
func readAccesses(cs []*csi.VolumeCapability) (block bool, err error) {
	if len(cs) == 0 {
		return false, invalid("volume_capabilities is required")
	}
	for i, c := range cs {
		a, err := readAccess(c)
		if err != nil {
			return false, err
		}
		if i > 0 && a.block != block {
			return false, invalid("a volume cannot be both a block device and a file system")
		}
		block = a.block
	}
	return block, nil
}

// singleNode reports whether the volume may be on only one node.
func (a access) singleNode() bool {
	switch a.mode {
	case csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY,
		csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER,
		csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER:
		return false
	}
	return true
}

// singleTarget reports whether the volume may be at only one target path of a node.
func (a access) singleTarget() bool {
	return a.singleNode() && a.mode != csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
}

// readerOnly reports whether the mode forbids writes.
func (a access) readerOnly() bool {
	return a.mode == csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY ||
		a.mode == csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY
}

// suits reports whether the volume can be used with this access.
func (a access) suits(v backend.Volume) bool { return a.block == v.Block }

// checkExpanded rejects a capability that does not fit the volume. Expansion calls may omit the
// capability.
func checkExpanded(v backend.Volume, capability *csi.VolumeCapability) error {
	if capability == nil {
		return nil
	}
	a, err := readAccess(capability)
	if err != nil {
		return err
	}
	if !a.suits(v) {
		return invalid("volume %s cannot be used as the capability says", v.ID)
	}
	return nil
}

func (a access) flagList() string { return strings.Join(a.options, ",") }

//go:build linux

package service

import (
	"context"
	"time"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// Store is the storage backend. All methods may be repeated; a repeated call changes nothing.
type Store interface {
	// CreateVolume returns the existing volume with the name, if there is one.
	CreateVolume(backend.VolumeSpec) (backend.Volume, error)
	DeleteVolume(id string) error
	// ExpandVolume makes a volume at least as large as required, and at most as large as limit; 0
	// means no limit.
	ExpandVolume(id string, required, limit int64) (backend.Volume, error)
	Volume(id string) (backend.Volume, error)
	Volumes() ([]backend.Volume, error)
	// DataPath returns the directory or the image of a volume.
	DataPath(backend.Volume) string
	FreeBytes() (int64, error)

	// Attach attaches a volume to a node. With exclusive, the volume must not be attached to other
	// nodes.
	Attach(id, nodeID string, a backend.Attachment, exclusive bool) (backend.Volume, error)
	Detach(id, nodeID string) error
	RegisterNode(backend.Node) error

	CreateSnapshot(name, volumeID string) (backend.Snapshot, error)
	DeleteSnapshot(id string) error
	Snapshots() ([]backend.Snapshot, error)
	// Ready reports whether a snapshot with this creation time is ready to use.
	Ready(created time.Time) bool
	CreateGroup(name string, volumeIDs []string, source func(i int) (volumeID string)) (backend.Group, error)
	DeleteGroup(id string) error
	Group(id string) (backend.Group, error)

	// Writable reports whether a volume may be written. A demoted replica may not.
	Writable(id string) (bool, error)
}

// Mounts puts volumes at paths of the node.
type Mounts interface {
	// Stage binds the content of a volume at its staging path.
	Stage(v backend.Volume, content, staging string) error
	// Publish binds a staged volume at a target path, with the flags from the first moment on.
	Publish(v backend.Volume, source, target string, flags mount.Flags) error
	// Restrict adds flags to a mount.
	Restrict(target string, flags mount.Flags) error
	// Unmount removes all mounts at a path, and reports whether there were any.
	Unmount(path string) (was bool, err error)
}

type mounts struct{}

func (mounts) Stage(_ backend.Volume, content, staging string) error {
	return mount.Bind(content, staging)
}

func (mounts) Publish(_ backend.Volume, source, target string, flags mount.Flags) error {
	return mount.BindRestricted(source, target, flags)
}

func (mounts) Restrict(target string, flags mount.Flags) error { return mount.Restrict(target, flags) }

func (mounts) Unmount(path string) (was bool, err error) { return mount.Unmount(path) }

// Devices are the loop devices of block volumes, by their labels.
type Devices interface {
	// Attach returns the device of an image, and attaches one if it is missing.
	Attach(image, label string, readOnly bool) (loop.Device, error)
	Find(label string) ([]loop.Device, error)
	Detach(loop.Device) error
	// Refresh enlarges a device to the size of its image.
	Refresh(loop.Device) error
}

type devices struct{}

func (devices) Attach(image, label string, readOnly bool) (loop.Device, error) {
	return loop.Attach(image, label, readOnly)
}

func (devices) Find(label string) ([]loop.Device, error) { return loop.Find(label) }
func (devices) Detach(d loop.Device) error               { return d.Detach() }
func (devices) Refresh(d loop.Device) error              { return d.Refresh() }

// Records are the arguments with which volumes were placed at paths.
type Records interface {
	Put(placement.Placement) error
	Get(path string) (p placement.Placement, known bool, err error)
	Has(path string) bool
	Drop(path string) error
	Of(volumeID string) ([]placement.Placement, error)
	All() ([]placement.Placement, error)
}

// Sources finds the path that a publish binds.
type Sources interface {
	Source(v backend.Volume, staging string, readOnly bool) (string, error)
}

// Inlines are the directories of inline volumes.
type Inlines interface {
	Dir(volumeID string) string
}

// Fences are the fenced address ranges.
type Fences interface {
	Fences() ([]string, error)
	// FollowFences calls apply with the current fences, and again after each change.
	FollowFences(nodeID string, apply func(fences []string) error) error
}

// Locks admits one changing call for each volume or snapshot.
type Locks interface {
	// Enter reports whether a call may begin.
	Enter(subject string) bool
	Leave(ctx context.Context, subject string)
}

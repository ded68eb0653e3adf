//go:build linux

package backend

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// MaxVolumeBytes is the size of the largest possible volume.
const MaxVolumeBytes = 16 << 40

// blockAlign is the unit in which block volumes grow, in bytes.
const blockAlign = 4096

// Source names the origin of a volume's content. At most one field is set.
type Source struct {
	VolumeID   string `json:"volumeID,omitempty"`
	SnapshotID string `json:"snapshotID,omitempty"`
}

// Volume is a directory (file system volume) or a sparse image (block volume).
type Volume struct {
	ID            string                `json:"id"`
	Name          string                `json:"name"`
	CapacityBytes int64                 `json:"capacityBytes"`
	Block         bool                  `json:"block,omitempty"`
	Source        Source                `json:"source,omitzero"`
	Parameters    map[string]string     `json:"parameters,omitempty"`
	Topology      map[string]string     `json:"topology,omitempty"`
	Attachments   map[string]Attachment `json:"attachments,omitempty"`
}

// VolumeSpec describes a requested volume. A capacity of zero means "any"; LimitBytes zero means no
// limit.
type VolumeSpec struct {
	Name          string
	RequiredBytes int64
	LimitBytes    int64
	Block         bool
	Source        Source
	Parameters    map[string]string
	Topology      map[string]string
	// Accessible reports whether an existing volume's topology satisfies the request.
	Accessible func(topology map[string]string) bool
}

// defaultVolumeBytes is the capacity of a volume without a required capacity.
const defaultVolumeBytes = 1 << 30

// VolumeID returns the id of the volume that is created under name.
func VolumeID(name string) string { return identify("vol-", name) }

// DataPath returns the directory or image with the volume's content.
func (b *Backend) DataPath(v Volume) string {
	return filepath.Join(b.object(volumesDir, v.ID), dataName(v.Block))
}

// CreateVolume creates the volume or returns the volume that an earlier call with the same
// specification created. Errors: ErrIncompatible, ErrNotFound (source), ErrUnsuitable (source of
// the other kind), ErrOutOfRange, ErrPending.
func (b *Backend) CreateVolume(spec VolumeSpec) (v Volume, err error) {
	err = b.exclusively(func() error {
		v, err = b.volume(VolumeID(spec.Name))
		if err == nil {
			return spec.fits(v)
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		v, err = b.createVolume(VolumeID(spec.Name), spec)
		return err
	})
	return v, err
}

// CreateAnotherVolume creates a volume even if one with that name exists.
func (b *Backend) CreateAnotherVolume(spec VolumeSpec) (v Volume, err error) {
	err = b.exclusively(func() error {
		ids, err := b.ids(volumesDir)
		if err != nil {
			return err
		}
		v, err = b.createVolume(fmt.Sprintf("%s-%d", VolumeID(spec.Name), len(ids)), spec)
		return err
	})
	return v, err
}

func (b *Backend) createVolume(id string, spec VolumeSpec) (Volume, error) {
	from, sourceBytes, err := b.source(spec)
	if err != nil {
		return Volume{}, err
	}
	capacity, err := b.capacity(spec, sourceBytes)
	if err != nil {
		return Volume{}, err
	}
	v := Volume{
		ID: id, Name: spec.Name, CapacityBytes: capacity, Block: spec.Block,
		Source: spec.Source, Parameters: spec.Parameters, Topology: spec.Topology,
	}
	err = b.install(volumesDir, id, b.record(v), func(dir string) error {
		return fill(filepath.Join(dir, dataName(v.Block)), from, v.Block, capacity)
	})
	if err != nil {
		return Volume{}, fmt.Errorf("create volume %s: %w", spec.Name, err)
	}
	return v, nil
}

// source finds the initial content; from is empty for an empty volume.
func (b *Backend) source(spec VolumeSpec) (from string, bytes int64, err error) {
	var block bool
	switch {
	case spec.Source.SnapshotID != "":
		s, err := b.snapshot(spec.Source.SnapshotID)
		if err != nil {
			return "", 0, err
		}
		if !b.Ready(s.Created) {
			return "", 0, fmt.Errorf("copying snapshot %s %w", s.ID, ErrPending)
		}
		from, bytes, block = b.snapshotData(s), s.SizeBytes, s.Block
	case spec.Source.VolumeID != "":
		v, err := b.volume(spec.Source.VolumeID)
		if err != nil {
			return "", 0, err
		}
		from, bytes, block = b.DataPath(v), v.CapacityBytes, v.Block
	default:
		return "", 0, nil
	}
	if block != spec.Block {
		return "", 0, fmt.Errorf("source and volume must both be block or both be file system: %w", ErrUnsuitable)
	}
	return from, bytes, nil
}

// DeleteVolume removes the volume; a missing volume is not an error. Errors: ErrInUse while
// attached.
func (b *Backend) DeleteVolume(id string) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(v.Attachments) > 0 {
			return fmt.Errorf("volume %s is attached to %v: %w", id, v.AttachedNodes(), ErrInUse)
		}
		if err := b.remove(volumesDir, id); err != nil {
			return err
		}
		if _, err := b.replica(id); errors.Is(err, ErrNotReplicated) {
			return nil
		}
		return b.remove(replicasDir, id)
	})
}

// ExpandVolume enlarges the volume to at least the required bytes and returns it. Errors:
// ErrNotFound, ErrOutOfRange.
func (b *Backend) ExpandVolume(id string, required, limit int64) (v Volume, err error) {
	err = b.exclusively(func() error {
		if v, err = b.volume(id); err != nil {
			return err
		}
		if limit > 0 && v.CapacityBytes > limit {
			return fmt.Errorf("volume %s has %d bytes, limit %d: %w", id, v.CapacityBytes, limit, ErrOutOfRange)
		}
		if v.CapacityBytes >= required {
			return nil
		}
		capacity, err := b.capacity(VolumeSpec{RequiredBytes: required, LimitBytes: limit, Block: v.Block}, 0)
		if err != nil {
			return err
		}
		if v.Block {
			if err := os.Truncate(b.DataPath(v), capacity); err != nil {
				return err
			}
		}
		v.CapacityBytes = capacity
		return b.saveVolume(v)
	})
	return v, err
}

// RecordAndExpandVolume is like ExpandVolume, but records the new size first. If the process is
// killed in between, the volume only appears to be expanded.
func (b *Backend) RecordAndExpandVolume(id string, required, _ int64) (v Volume, err error) {
	err = b.exclusively(func() error {
		if v, err = b.volume(id); err != nil || v.CapacityBytes >= required {
			return err
		}
		v.CapacityBytes = required
		if err := b.saveVolume(v); err != nil || !v.Block {
			return err
		}
		return os.Truncate(b.DataPath(v), required)
	})
	return v, err
}

// Resize sets the required size of a volume, even if the volume is larger.
func (b *Backend) Resize(id string, required int64) (v Volume, err error) {
	err = b.exclusively(func() error {
		if v, err = b.volume(id); err != nil {
			return err
		}
		v.CapacityBytes = required
		if v.Block {
			if err := os.Truncate(b.DataPath(v), required); err != nil {
				return err
			}
		}
		return b.saveVolume(v)
	})
	return v, err
}

// Volume looks a volume up. Errors: ErrNotFound.
func (b *Backend) Volume(id string) (v Volume, err error) {
	err = b.exclusively(func() error {
		v, err = b.volume(id)
		return err
	})
	return v, err
}

// Volumes lists all volumes by id. It does not wait for calls in progress, because it needs no
// lock: one rename writes each record.
func (b *Backend) Volumes() ([]Volume, error) {
	ids, err := b.ids(volumesDir)
	if err != nil {
		return nil, err
	}
	var all []Volume
	for _, id := range ids {
		v, err := b.volume(id)
		if errors.Is(err, ErrNotFound) { // a volume without a record
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (b *Backend) volume(id string) (Volume, error) {
	var record volumeRecord
	err := b.load(volumesDir, id, &record)
	v := b.read(record)
	maps.DeleteFunc(v.Attachments, func(_ string, a Attachment) bool { return a.detached() })
	return v, err
}

func (b *Backend) saveVolume(v Volume) error {
	return WriteJSON(filepath.Join(b.object(volumesDir, v.ID), recordFile), b.record(v))
}

// fits reports whether v is the volume that the specification describes.
func (s VolumeSpec) fits(v Volume) error {
	sized := v.CapacityBytes >= s.RequiredBytes && (s.LimitBytes == 0 || v.CapacityBytes <= s.LimitBytes)
	same := v.Block == s.Block && v.Source == s.Source && maps.Equal(v.Parameters, s.Parameters)
	if !sized || !same || (s.Accessible != nil && !s.Accessible(v.Topology)) {
		return fmt.Errorf("volume %s: %w", s.Name, ErrIncompatible)
	}
	return nil
}

// capacity returns the size of a volume created from a source with that size.
func (b *Backend) capacity(s VolumeSpec, sourceBytes int64) (int64, error) {
	capacity := s.RequiredBytes
	if capacity == 0 {
		capacity = defaultVolumeBytes
		if s.LimitBytes > 0 {
			capacity = min(capacity, s.LimitBytes)
		}
		capacity = max(capacity, sourceBytes)
	}
	capacity = b.Jobs.roundUp(capacity)
	if s.Block {
		capacity = (capacity + blockAlign - 1) / blockAlign * blockAlign
	}
	switch {
	case capacity < sourceBytes:
		return 0, fmt.Errorf("%d bytes are fewer than the source's %d: %w", capacity, sourceBytes, ErrOutOfRange)
	case s.LimitBytes > 0 && capacity > s.LimitBytes:
		return 0, fmt.Errorf("%d bytes exceed the limit of %d: %w", capacity, s.LimitBytes, ErrOutOfRange)
	case capacity > MaxVolumeBytes:
		return 0, fmt.Errorf("%d bytes exceed the largest volume, %d: %w", capacity, int64(MaxVolumeBytes), ErrOutOfRange)
	}
	return capacity, nil
}

func dataName(block bool) string {
	if block {
		return "image"
	}
	return "data"
}

// Shrink truncates a block volume to the size of its source, and keeps its recorded size.
func (b *Backend) Shrink(v Volume) error {
	return b.exclusively(func() error {
		_, bytes, err := b.source(VolumeSpec{Source: v.Source, Block: v.Block})
		if err != nil {
			return err
		}
		return os.Truncate(b.DataPath(v), bytes)
	})
}

// WipeCopies deletes the content of the volumes that were copied from one.
func (b *Backend) WipeCopies(id string) error {
	all, err := b.Volumes()
	for _, v := range all {
		if v.Source.VolumeID == id {
			err = errors.Join(err, b.Wipe(v))
		}
	}
	return err
}

// WipeSnapshot deletes the content of a snapshot of a directory.
func (b *Backend) WipeSnapshot(id string) error {
	return b.exclusively(func() error {
		s, err := b.snapshot(id)
		if err != nil || s.Block {
			return err
		}
		return clear(b.snapshotData(s))
	})
}

// RefillSnapshot replaces the content of a snapshot of a directory by the content of a volume.
func (b *Backend) RefillSnapshot(id string, from Volume) error {
	return b.exclusively(func() error {
		s, err := b.snapshot(id)
		if err != nil || s.Block {
			return err
		}
		if err := os.RemoveAll(b.snapshotData(s)); err != nil {
			return err
		}
		return copyTree(b.DataPath(from), b.snapshotData(s))
	})
}

// DeleteInParts removes the record of a volume, and then its content.
func (b *Backend) DeleteInParts(v Volume) error {
	return b.exclusively(func() error {
		dir := b.object(volumesDir, v.ID)
		return errors.Join(os.Remove(filepath.Join(dir, recordFile)), os.RemoveAll(dir))
	})
}

// Wipe deletes a volume's content.
func (b *Backend) Wipe(v Volume) error {
	if !v.Block {
		return clear(b.DataPath(v))
	}
	if err := os.Truncate(b.DataPath(v), 0); err != nil {
		return err
	}
	return os.Truncate(b.DataPath(v), v.CapacityBytes)
}

//go:build linux

package backend

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Snapshot is a full copy of a volume's content; it outlives the volume.
type Snapshot struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	VolumeID  string    `json:"volumeID"`
	GroupID   string    `json:"groupID,omitempty"` // the group of the snapshot
	SizeBytes int64     `json:"sizeBytes"`
	Block     bool      `json:"block,omitempty"`
	Created   time.Time `json:"created"`
}

// Ready reports whether a snapshot, or a group snapshot, with this creation time can be used.
func (b *Backend) Ready(created time.Time) bool { return b.Jobs.ready(created) }

// SnapshotID returns the id of the snapshot that is created under name.
func SnapshotID(name string) string { return identify("snap-", name) }

// CreateSnapshot copies the volume or returns the copy that an earlier call made.
// Errors: ErrNotFound (volume), ErrIncompatible (a snapshot of another volume).
func (b *Backend) CreateSnapshot(name, volumeID string) (s Snapshot, err error) {
	err = b.exclusively(func() error {
		s, err = b.snapshot(SnapshotID(name))
		if err == nil && s.VolumeID != volumeID {
			return fmt.Errorf("snapshot %s of volume %s: %w", name, s.VolumeID, ErrIncompatible)
		}
		if err == nil || !errors.Is(err, ErrNotFound) {
			return err
		}
		v, err := b.volume(volumeID)
		if err != nil {
			return err
		}
		s = Snapshot{
			ID: SnapshotID(name), Name: name, VolumeID: volumeID,
			SizeBytes: v.CapacityBytes, Block: v.Block, Created: time.Now().UTC(),
		}
		return b.install(snapshotsDir, s.ID, s, func(dir string) error {
			return fill(filepath.Join(dir, dataName(v.Block)), b.DataPath(v), v.Block, v.CapacityBytes)
		})
	})
	return s, err
}

// DeleteSnapshot removes the snapshot; a missing snapshot is not an error. Errors: ErrUnsuitable (a
// member of a group).
func (b *Backend) DeleteSnapshot(id string) error {
	return b.exclusively(func() error {
		s, err := b.snapshot(id)
		if err == nil && s.GroupID != "" {
			return fmt.Errorf("snapshot %s is part of group %s: %w", id, s.GroupID, ErrUnsuitable)
		}
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return b.remove(snapshotsDir, id)
	})
}

// Snapshots lists all snapshots by id; snapshots of groups are last.
func (b *Backend) Snapshots() (all []Snapshot, err error) {
	err = b.exclusively(func() error {
		ids, err := b.ids(snapshotsDir)
		if err != nil {
			return err
		}
		for _, id := range ids {
			s, err := b.snapshot(id)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		members, err := b.members()
		all = append(all, members...)
		return err
	})
	return all, err
}

func (b *Backend) snapshot(id string) (Snapshot, error) {
	s, ok, err := b.member(id)
	if ok {
		return s, err
	}
	return s, b.load(snapshotsDir, id, &s)
}

func (b *Backend) snapshotData(s Snapshot) string {
	if s.GroupID != "" {
		return filepath.Join(b.object(groupsDir, s.GroupID), s.ID)
	}
	return filepath.Join(b.object(snapshotsDir, s.ID), dataName(s.Block))
}

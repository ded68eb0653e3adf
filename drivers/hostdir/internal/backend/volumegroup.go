//go:build linux

package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const volumeGroupsDir = "volumegroups"

// VolumeGroup is a set of volumes that are replicated together.
type VolumeGroup struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	VolumeIDs []string `json:"volumeIDs"`
}

// CreateVolumeGroup creates a group or returns the group that an earlier call created. Errors:
// ErrNotFound (a volume), ErrIncompatible (a group of other volumes), ErrInUse (a volume of another
// group).
func (b *Backend) CreateVolumeGroup(name string, volumeIDs []string) (g VolumeGroup, err error) {
	id := identify("vg-", name)
	err = b.exclusively(func() error {
		err := b.load(volumeGroupsDir, id, &g)
		switch {
		case err == nil && !slices.Equal(g.VolumeIDs, volumeIDs):
			return fmt.Errorf("group %s of volumes %v: %w", name, g.VolumeIDs, ErrIncompatible)
		case err == nil || !errors.Is(err, ErrNotFound):
			return err
		}
		if err := b.groupable(id, volumeIDs); err != nil {
			return err
		}
		g = VolumeGroup{ID: id, Name: name, VolumeIDs: volumeIDs}
		if err := os.MkdirAll(filepath.Join(b.dir, volumeGroupsDir), 0o755); err != nil {
			return err
		}
		return b.install(volumeGroupsDir, id, g, func(string) error { return nil })
	})
	return g, err
}

// ModifyVolumeGroup replaces the volumes of a group. Errors: see CreateVolumeGroup.
func (b *Backend) ModifyVolumeGroup(id string, volumeIDs []string) (g VolumeGroup, err error) {
	err = b.exclusively(func() error {
		if err := b.load(volumeGroupsDir, id, &g); err != nil {
			return err
		}
		if err := b.groupable(id, volumeIDs); err != nil {
			return err
		}
		g.VolumeIDs = volumeIDs
		return WriteJSON(filepath.Join(b.object(volumeGroupsDir, id), recordFile), g)
	})
	return g, err
}

// DeleteVolumeGroup removes a group but keeps its volumes. A missing group is not an error. Errors:
// ErrInUse while it has volumes.
func (b *Backend) DeleteVolumeGroup(id string) error {
	return b.exclusively(func() error {
		var g VolumeGroup
		err := b.load(volumeGroupsDir, id, &g)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil
		case err != nil:
			return err
		case len(g.VolumeIDs) > 0:
			return fmt.Errorf("group %s has volumes %v: %w", id, g.VolumeIDs, ErrInUse)
		}
		return b.remove(volumeGroupsDir, id)
	})
}

// VolumeGroup looks a group up. Errors: ErrNotFound.
func (b *Backend) VolumeGroup(id string) (g VolumeGroup, err error) {
	err = b.exclusively(func() error { return b.load(volumeGroupsDir, id, &g) })
	return g, err
}

// groupable returns an error if volumes cannot join a group.
func (b *Backend) groupable(into string, volumeIDs []string) error {
	for _, id := range volumeIDs {
		if _, err := b.volume(id); err != nil {
			return err
		}
	}
	ids, err := b.ids(volumeGroupsDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, other := range ids {
		var g VolumeGroup
		if err := b.load(volumeGroupsDir, other, &g); err != nil {
			return err
		}
		for _, id := range volumeIDs {
			if other != into && slices.Contains(g.VolumeIDs, id) {
				return fmt.Errorf("volume %s is in group %s: %w", id, other, ErrInUse)
			}
		}
	}
	return nil
}

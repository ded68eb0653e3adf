//go:build linux

package backend

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Group is a set of snapshots of several volumes at one point in time. Their directories are inside
// the group's directory, so one rename creates or removes all of them.
type Group struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Created time.Time  `json:"created"`
	Members []Snapshot `json:"members"`
}

// MemberIDs returns the ids of its snapshots, sorted.
func (g Group) MemberIDs() []string {
	var ids []string
	for _, s := range g.Members {
		ids = append(ids, s.ID)
	}
	return slices.Sorted(slices.Values(ids))
}

// volumeIDs returns the ids of its volumes, sorted.
func (g Group) volumeIDs() []string {
	var ids []string
	for _, s := range g.Members {
		ids = append(ids, s.VolumeID)
	}
	return slices.Sorted(slices.Values(ids))
}

// memberMark separates the group's id from the number in the id of a snapshot.
const memberMark = "."

// CreateGroup copies the volumes, or returns the copies of an earlier call. source returns the
// volume with the content of a member. Errors: ErrNotFound (a volume), ErrIncompatible (a group of
// other volumes).
func (b *Backend) CreateGroup(name string, volumeIDs []string, source func(i int) (volumeID string)) (g Group, err error) {
	id := identify("group-", name)
	err = b.exclusively(func() error {
		g, err = b.group(id)
		if err == nil && !slices.Equal(g.volumeIDs(), slices.Sorted(slices.Values(volumeIDs))) {
			return fmt.Errorf("group %s of volumes %v: %w", name, g.volumeIDs(), ErrIncompatible)
		}
		if err == nil || !errors.Is(err, ErrNotFound) {
			return err
		}
		g = Group{ID: id, Name: name, Created: time.Now().UTC()}
		var contents []string
		for i, volumeID := range volumeIDs {
			v, err := b.volume(volumeID)
			if err != nil {
				return err
			}
			content, err := b.volume(source(i))
			if err != nil {
				return err
			}
			member := id + memberMark + strconv.Itoa(i)
			g.Members = append(g.Members, Snapshot{
				ID: member, Name: member, VolumeID: volumeID, GroupID: id,
				SizeBytes: v.CapacityBytes, Block: v.Block, Created: g.Created,
			})
			contents = append(contents, b.DataPath(content))
		}
		return b.install(groupsDir, id, g, func(dir string) error {
			for i, s := range g.Members {
				if err := fill(filepath.Join(dir, s.ID), contents[i], s.Block, s.SizeBytes); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return g, err
}

// Group reads a group by its id. Errors: ErrNotFound.
func (b *Backend) Group(id string) (g Group, err error) {
	err = b.exclusively(func() error {
		g, err = b.group(id)
		return err
	})
	return g, err
}

// DeleteGroup removes the group with all of its snapshots; a missing group is not an error.
func (b *Backend) DeleteGroup(id string) error {
	return b.exclusively(func() error {
		_, err := b.group(id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return b.remove(groupsDir, id)
	})
}

func (b *Backend) group(id string) (g Group, err error) {
	return g, b.load(groupsDir, id, &g)
}

// member reads a snapshot of a group; ok is false for a snapshot without a group.
func (b *Backend) member(id string) (s Snapshot, ok bool, err error) {
	groupID, _, ok := strings.Cut(id, memberMark)
	if !ok {
		return Snapshot{}, false, nil
	}
	g, err := b.group(groupID)
	if err != nil {
		return Snapshot{}, true, err
	}
	for _, s := range g.Members {
		if s.ID == id {
			return s, true, nil
		}
	}
	return Snapshot{}, true, fmt.Errorf("%s %q: %w", snapshotsDir, id, ErrNotFound)
}

// members lists the snapshots of all groups.
func (b *Backend) members() (all []Snapshot, err error) {
	ids, err := b.ids(groupsDir)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		g, err := b.group(id)
		if err != nil {
			return nil, err
		}
		all = append(all, g.Members...)
	}
	return all, nil
}

//go:build linux

package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Reasons why the backend refuses to change a replication.
var (
	ErrNotReplicated = errors.New("not replicated")
	ErrNotDemoted    = errors.New("not demoted")
)

const replicasDir = "replicas"

// Replica is the second copy of a volume, in a directory of its own. The volume may be
// written only while it is primary.
type Replica struct {
	VolumeID string        `json:"volumeID"`
	Primary  bool          `json:"primary"`
	Synced   time.Time     `json:"synced"`
	Took     time.Duration `json:"took"`
	Bytes    int64         `json:"bytes"`
}

// Replicate begins to keep a copy; the volume is secondary until it is promoted. One that
// is replicated stays as it is. Errors: ErrNotFound.
func (b *Backend) Replicate(id string) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		if _, err := b.replica(id); err == nil || !errors.Is(err, ErrNotReplicated) {
			return err
		}
		return b.sync(v, Replica{VolumeID: id})
	})
}

// Unreplicate removes the copy; without one there is nothing to do. Errors: ErrNotFound.
func (b *Backend) Unreplicate(id string) error {
	return b.exclusively(func() error {
		if _, err := b.volume(id); err != nil {
			return err
		}
		if _, err := b.replica(id); errors.Is(err, ErrNotReplicated) {
			return nil
		}
		return b.remove(replicasDir, id)
	})
}

// Promote lets a volume be written. Errors: ErrNotFound, ErrNotReplicated.
func (b *Backend) Promote(id string) error { return b.setPrimary(id, true) }

// Demote synchronizes the copy and lets nobody write to the volume any more. One that is
// attached is ErrInUse, unless it is forced. Errors: ErrNotFound, ErrNotReplicated.
func (b *Backend) Demote(id string, force bool) error {
	v, err := b.Volume(id)
	if err != nil {
		return err
	}
	if len(v.Attachments) > 0 && !force {
		return fmt.Errorf("volume %s is attached to %v: %w", id, v.AttachedNodes(), ErrInUse)
	}
	return b.setPrimary(id, false)
}

func (b *Backend) setPrimary(id string, primary bool) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		r, err := b.replica(id)
		if err != nil || r.Primary == primary {
			return err
		}
		r.Primary = primary
		return b.sync(v, r)
	})
}

// Resync makes the copy anew. Errors: ErrNotFound, ErrNotReplicated, ErrNotDemoted of a
// primary, unless it is forced.
func (b *Backend) Resync(id string, force bool) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		r, err := b.replica(id)
		if err != nil {
			return err
		}
		if r.Primary && !force {
			return fmt.Errorf("volume %s: %w", id, ErrNotDemoted)
		}
		return b.sync(v, r)
	})
}

// Replica is what is known of the copy of a volume. Errors: ErrNotFound, ErrNotReplicated.
func (b *Backend) Replica(id string) (r Replica, err error) {
	err = b.exclusively(func() error {
		if _, err := b.volume(id); err != nil {
			return err
		}
		r, err = b.replica(id)
		return err
	})
	return r, err
}

// Writable reports whether a volume may be written: it is not replicated, or primary.
func (b *Backend) Writable(id string) (bool, error) {
	r, err := b.Replica(id)
	if errors.Is(err, ErrNotReplicated) || errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return r.Primary, err
}

func (b *Backend) replica(id string) (r Replica, err error) {
	err = b.load(replicasDir, id, &r)
	if errors.Is(err, ErrNotFound) {
		return r, fmt.Errorf("volume %s: %w", id, ErrNotReplicated)
	}
	return r, err
}

// sync puts a new copy in the place of the old one.
func (b *Backend) sync(v Volume, r Replica) error {
	began := time.Now()
	if err := os.MkdirAll(filepath.Join(b.dir, replicasDir), 0o755); err != nil {
		return err
	}
	if _, err := b.replica(v.ID); err == nil {
		if err := b.remove(replicasDir, v.ID); err != nil {
			return err
		}
	}
	bytes, err := taken(b.DataPath(v))
	if err != nil {
		return err
	}
	r.Bytes, r.Synced, r.Took = bytes, began.UTC(), time.Since(began)
	return b.install(replicasDir, v.ID, r, func(dir string) error {
		return fill(filepath.Join(dir, dataName(v.Block)), b.DataPath(v), v.Block, v.CapacityBytes)
	})
}

// CopyID is the id of the copy of a volume.
func CopyID(volumeID string) string { return "copy-of-" + volumeID }

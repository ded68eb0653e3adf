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
	ErrUnreachable   = errors.New("cannot be reached")
	ErrPrimaryThere  = errors.New("primary at the other site")
	ErrPrimaryAway   = errors.New("primary at the other site, which cannot be reached")
)

const replicasDir = "replicas"

// Replica is what is known of the second copy of a volume: in a directory of its own or,
// of two sites, at the other one. The volume may be written only while it is primary.
type Replica struct {
	VolumeID string        `json:"volumeID"`
	Primary  bool          `json:"primary"`
	Synced   time.Time     `json:"synced"`
	Took     time.Duration `json:"took"`
	Bytes    int64         `json:"bytes"`
}

// Replicate begins to keep a copy; the volume is secondary until it is promoted. One that
// is replicated stays as it is. Errors: ErrNotFound, ErrUnreachable.
func (b *Backend) Replicate(id string) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		if _, err := b.replica(id); err == nil || !errors.Is(err, ErrNotReplicated) {
			return err
		}
		if err := b.reach(); err != nil {
			return err
		}
		return b.sync(v, Replica{VolumeID: id})
	})
}

// Unreplicate removes the copy; without one there is nothing to do. Of two sites only the
// primary removes the copy at the other one. Errors: ErrNotFound, ErrUnreachable.
func (b *Backend) Unreplicate(id string) error {
	return b.exclusively(func() error {
		if _, err := b.volume(id); err != nil {
			return err
		}
		r, err := b.replica(id)
		if errors.Is(err, ErrNotReplicated) {
			return nil
		}
		if err == nil && r.Primary && b.peer != nil {
			err = b.dropCopy(id)
		}
		if err != nil {
			return err
		}
		return b.remove(replicasDir, id)
	})
}

// Promote lets a volume be written. Where the other site is primary and can be reached it is
// ErrPrimaryThere; where it cannot, ErrPrimaryAway, unless it is forced. Errors: ErrNotFound,
// ErrNotReplicated.
func (b *Backend) Promote(id string, force bool) error {
	return b.setPrimary(id, true, func() error { return b.mayPromote(id, force) })
}

// Demote synchronizes the copy and lets nobody write to the volume any more. One that is
// attached is ErrInUse, unless it is forced. Errors: ErrNotFound, ErrNotReplicated, ErrUnreachable.
func (b *Backend) Demote(id string, force bool) error {
	v, err := b.Volume(id)
	if err != nil {
		return err
	}
	if len(v.Attachments) > 0 && !force {
		return fmt.Errorf("volume %s is attached to %v: %w", id, v.AttachedNodes(), ErrInUse)
	}
	return b.setPrimary(id, false, b.reach)
}

func (b *Backend) setPrimary(id string, primary bool, may func() error) error {
	return b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		r, err := b.replica(id)
		if err != nil || r.Primary == primary {
			return err
		}
		if err := may(); err != nil {
			return err
		}
		if b.peer != nil && primary {
			r.Primary = true
			return b.saveReplica(r)
		}
		r.Primary = primary
		return b.sync(v, r)
	})
}

// Resync makes the copy anew or, of two sites, the volume what the other site has, if that is
// primary; it is not ready while that cannot be reached. Errors: ErrNotFound, ErrNotReplicated,
// ErrNotDemoted of a primary, unless there is one site and it is forced.
func (b *Backend) Resync(id string, force bool) (ready bool, err error) {
	err = b.exclusively(func() error {
		v, err := b.volume(id)
		if err != nil {
			return err
		}
		r, err := b.replica(id)
		if err != nil {
			return err
		}
		if r.Primary && (!force || b.peer != nil) {
			return fmt.Errorf("volume %s: %w", id, ErrNotDemoted)
		}
		ready = true
		if b.peer == nil {
			return b.sync(v, r)
		}
		if err := b.reach(); errors.Is(err, ErrUnreachable) {
			ready = false
			return nil
		}
		return b.peer.sendTo(id)
	})
	return ready, err
}

// Synchronize brings the copy of a primary up to date, and reports how the copy is.
// Errors: ErrNotFound, ErrNotReplicated, ErrUnreachable.
func (b *Backend) Synchronize(id string) (r Replica, err error) {
	err = b.exclusively(func() error {
		v, err := b.volume(id)
		if err == nil {
			r, err = b.replica(id)
		}
		if err != nil || b.peer == nil || !r.Primary {
			return err
		}
		if err := b.reach(); err != nil {
			return err
		}
		if err := b.sync(v, r); err != nil {
			return err
		}
		r, err = b.replica(id)
		return err
	})
	return r, err
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

// saveReplica writes the record of a copy.
func (b *Backend) saveReplica(r Replica) error {
	dir := b.object(replicasDir, r.VolumeID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(dir, recordFile), r)
}

// sync puts a new copy in the place of the old one.
func (b *Backend) sync(v Volume, r Replica) error {
	began := time.Now()
	bytes, err := taken(b.DataPath(v))
	if err != nil {
		return err
	}
	if b.peer != nil {
		err = b.send(v)
	} else {
		err = b.keep(v)
	}
	if err != nil {
		return err
	}
	r.Bytes, r.Synced, r.Took = bytes, began.UTC(), time.Since(began)
	return b.saveReplica(r)
}

// keep puts a new copy in the directory of copies.
func (b *Backend) keep(v Volume) error {
	if err := os.MkdirAll(filepath.Join(b.dir, replicasDir), 0o755); err != nil {
		return err
	}
	r, err := b.replica(v.ID)
	if err == nil {
		err = b.remove(replicasDir, v.ID)
	}
	if err != nil && !errors.Is(err, ErrNotReplicated) {
		return err
	}
	r.VolumeID = v.ID
	return b.install(replicasDir, v.ID, r, func(dir string) error {
		return fill(filepath.Join(dir, dataName(v.Block)), b.DataPath(v), v.Block, v.CapacityBytes)
	})
}

// CopyID is the id of the copy of a volume.
func (b *Backend) CopyID(volumeID string) string {
	if b.peer != nil {
		return volumeID
	}
	return "copy-of-" + volumeID
}

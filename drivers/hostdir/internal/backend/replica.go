//go:build linux

package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Errors of a replication.
var (
	ErrNotReplicated = errors.New("not replicated")
	ErrNotDemoted    = errors.New("not demoted")
	ErrUnreachable   = errors.New("cannot be reached")
	ErrPrimaryThere  = errors.New("primary at the other site")
	ErrPrimaryAway   = errors.New("primary at the other site, which cannot be reached")
)

const replicasDir = "replicas"

// Replica is the state of the second copy of a volume. The copy is in a separate directory or, with
// two sites, at the other site. The volume may be written only while it is primary.
type Replica struct {
	VolumeID string        `json:"volumeID"`
	Primary  bool          `json:"primary"`
	Synced   time.Time     `json:"synced"`
	Took     time.Duration `json:"took"`
	Bytes    int64         `json:"bytes"`
}

// Replicate starts the replication of a volume. The volume is secondary until it is promoted. It
// does not change a replicated volume. Errors: ErrNotFound, ErrUnreachable.
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

// Unreplicate removes the copy; a missing copy is not an error. With two sites, only the primary
// removes the copy at the other site. Errors: ErrNotFound, ErrUnreachable.
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

// Promote makes a volume writable. If the other site is primary and reachable, it returns
// ErrPrimaryThere. If the other site is not reachable, it returns ErrPrimaryAway, unless force is
// set. Errors: ErrNotFound, ErrNotReplicated.
func (b *Backend) Promote(id string, force bool) error {
	return b.setPrimary(id, true, func() error { return b.mayPromote(id, force) })
}

// Demote synchronizes the copy and makes the volume read-only. For an attached volume it returns
// ErrInUse, unless it is forced. Errors: ErrNotFound, ErrNotReplicated, ErrUnreachable.
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

// Resync creates the copy anew. With two sites, it copies the volume of the other site if the other
// site is primary. The copy is not ready while the other site is unreachable. Errors: ErrNotFound;
// ErrNotReplicated; ErrNotDemoted if the volume is primary, unless there is one site and force is
// set.
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

// Synchronize updates the copy of a primary, and returns the state of the copy. Errors:
// ErrNotFound, ErrNotReplicated, ErrUnreachable.
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

// Replica returns the state of the copy of a volume. Errors: ErrNotFound, ErrNotReplicated.
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

// Writable reports whether a volume may be written: either it is not replicated, or it is primary.
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

// sync replaces the old copy by a new one.
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

// CopyID returns the id of the copy of a volume.
func (b *Backend) CopyID(volumeID string) string {
	if b.peer != nil {
		return volumeID
	}
	return "copy-of-" + volumeID
}

//go:build linux

package backend

import (
	"errors"
	"fmt"
	"path/filepath"
)

// OpenSite opens a storage directory as one of two sites. Each site has a directory with its name,
// and the sites keep copies of each other's volumes under the same ids.
func OpenSite(dir, site, peer string) (*Backend, error) {
	const lock = "../lock" // one lock for both, because with two locks two calls could deadlock
	own, err := openWith(filepath.Join(dir, site), lock)
	if err != nil {
		return nil, err
	}
	other, err := openWith(filepath.Join(dir, peer), lock)
	if err != nil {
		return nil, err
	}
	own.site, own.peer = site, other
	other.site, other.peer = peer, own
	return own, nil
}

// Serve makes this site reachable from the other site until the process ends.
func (b *Backend) Serve() error {
	if b.peer == nil {
		return nil
	}
	var err error
	if b.serving, err = hold(b.aliveFile()); err != nil {
		return fmt.Errorf("serve site %s: %w", b.site, err)
	}
	return nil
}

func (b *Backend) aliveFile() string { return filepath.Join(b.dir, "alive") }

// serves reports whether a process serves the site.
func (b *Backend) serves() (bool, error) {
	return isHeld(b.aliveFile())
}

// reach returns ErrUnreachable if there is another site that cannot be reached.
func (b *Backend) reach() error {
	if b.peer == nil {
		return nil
	}
	serves, err := b.peer.serves()
	if err == nil && !serves {
		err = fmt.Errorf("site %s: %w", b.peer.site, ErrUnreachable)
	}
	return err
}

// mayPromote returns an error instead of making a second primary.
func (b *Backend) mayPromote(id string, force bool) error {
	if b.peer == nil {
		return nil
	}
	there, err := b.peer.replica(id)
	if errors.Is(err, ErrNotReplicated) || err == nil && !there.Primary {
		return nil
	}
	if err == nil {
		err = b.reach()
	}
	switch {
	case err == nil:
		return fmt.Errorf("volume %s: %w (%s)", id, ErrPrimaryThere, b.peer.site)
	case errors.Is(err, ErrUnreachable) && force:
		return nil
	case errors.Is(err, ErrUnreachable):
		return fmt.Errorf("volume %s: %w (%s)", id, ErrPrimaryAway, b.peer.site)
	}
	return err
}

// send copies the volume to the other site, unless the volume is primary there.
func (b *Backend) send(v Volume) error {
	other := b.peer
	there, err := other.replica(v.ID)
	switch {
	case err == nil && there.Primary:
		return nil
	case err != nil && !errors.Is(err, ErrNotReplicated):
		return err
	}
	from := b.DataPath(v)
	was, err := other.volume(v.ID)
	switch {
	case err == nil:
		v.Attachments = was.Attachments
		err = other.remove(volumesDir, v.ID)
	case errors.Is(err, ErrNotFound):
		v.Attachments, err = nil, nil
	}
	if err != nil {
		return err
	}
	err = other.install(volumesDir, v.ID, v, func(dir string) error {
		return fill(filepath.Join(dir, dataName(v.Block)), from, v.Block, v.CapacityBytes)
	})
	if err != nil {
		return err
	}
	return other.saveReplica(Replica{VolumeID: v.ID})
}

// sendTo sends a volume to the other site, if it is primary here.
func (b *Backend) sendTo(id string) error {
	r, err := b.replica(id)
	if errors.Is(err, ErrNotReplicated) || err == nil && !r.Primary {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := b.volume(id)
	if err != nil {
		return err
	}
	return b.sync(v, r)
}

// dropCopy removes the copy at the other site, unless it is primary there.
func (b *Backend) dropCopy(id string) error {
	if err := b.reach(); err != nil {
		return err
	}
	there, err := b.peer.replica(id)
	if errors.Is(err, ErrNotReplicated) || err == nil && there.Primary {
		return nil
	}
	if err == nil {
		err = b.peer.remove(replicasDir, id)
	}
	if err != nil {
		return err
	}
	return b.peer.remove(volumesDir, id)
}

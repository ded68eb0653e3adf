//go:build linux

package defect

import (
	"errors"
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// misplaced puts something other than a mounted directory at target paths.
type misplaced struct {
	service.Mounts
	put func(source, target string) error
}

func (m misplaced) Publish(v backend.Volume, source, target string, flags mount.Flags) error {
	if v.Block {
		return m.Mounts.Publish(v, source, target, flags)
	}
	_ = os.Remove(target) // the directory that was made for the mount
	if err := m.put(source, target); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func (m misplaced) Restrict(target string, flags mount.Flags) error {
	if !mounted(target) {
		return nil
	}
	return m.Mounts.Restrict(target, flags)
}

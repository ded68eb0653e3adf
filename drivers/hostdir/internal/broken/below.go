//go:build linux

package broken

import (
	"os"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
)

const below = "shared"

// BindBelow binds source at target and a directory of it below the target, writable whatever the
// flags are.
func BindBelow(source, target string, flags mount.Flags) error {
	dir := filepath.Join(source, below)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := mount.BindRestricted(source, target, flags); err != nil {
		return err
	}
	return mount.Bind(dir, filepath.Join(target, below))
}

// UnmountBelow unmounts the mount of BindBelow below a target.
func UnmountBelow(target string) error {
	_, err := mount.Unmount(filepath.Join(target, below))
	return err
}

//go:build linux

package broken

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Misplaces reports whether the driver puts something other than a directory at target paths.
func (s Set) Misplaces() bool {
	return s.Has(PublishMakesFile) || s.Has(PublishMakesFIFO) || s.Has(PublishMakesSymlink)
}

// Misplace puts something other than a mounted directory at target.
func (s Set) Misplace(source, target string) error {
	var err error
	switch {
	case s.Has(PublishMakesSymlink):
		err = os.Symlink(source, target)
	case s.Has(PublishMakesFIFO):
		err = unix.Mkfifo(target, 0o644)
	default:
		err = os.WriteFile(target, nil, 0o644)
	}
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// StatFails looks at a target before it is unmounted, and reports whether that ends the call, and
// with which error.
func (s Set) StatFails(target string) (ends bool, err error) {
	if !s.Has(UnpublishTrustsStat) && !s.Has(UnpublishNeedsStat) {
		return false, nil
	}
	_, err = os.Stat(target)
	switch {
	case err == nil:
		return false, nil
	case s.Has(UnpublishTrustsStat) || errors.Is(err, os.ErrNotExist):
		return true, nil
	}
	return true, err
}

//go:build linux

package service

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// used is the usage of a directory volume. All volumes share the file system below it, so the file
// system's usage is not the volume's usage.
type used struct{ bytes, files int64 }

// usage measures the files below a directory. Files that vanish meanwhile do not count.
func usage(dir string) (u used, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		u.files++
		if !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			u.bytes += info.Size()
		}
		return nil
	})
	return u, err
}

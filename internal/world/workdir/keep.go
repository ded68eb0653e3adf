package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Keep makes a directory that outlives its run, with mode 0700, or takes an existing one. It ends
// everything of an earlier run that was killed, and keeps the files. The error is ErrInUse if
// another run has the directory.
func Keep(dir string) (*Dir, error) {
	if name := filepath.Base(dir); runName().MatchString(name) {
		return nil, fmt.Errorf("csisim clean removes directories with names such as %s: choose another name", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	lock, err := acquireFromDying(path)
	if errors.Is(err, fs.ErrNotExist) {
		lock, err = acquire(path, os.O_CREATE)
	}
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock, kept: true}
	err = errors.Join(d.release(), os.Chmod(path, 0o700), lock.Truncate(0), writeOwner(lock))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return d, nil
}

// release ends everything of the last run, and forgets its loop devices.
func (d *Dir) release() error {
	if _, err := release(d.path, readOwner(d.lock)); err != nil {
		return err
	}
	unregister(d.path)
	if err := os.Remove(filepath.Join(d.path, tracesName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

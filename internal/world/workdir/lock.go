package workdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockName is the file in a run's directory that the run holds a lock on.
const lockName = ".lock"

// errNotOurs says that another process holds the lock, or removed the directory
// while this one waited for nothing.
var errNotOurs = errors.New("the directory is in use by another process")

// acquire opens and locks the lock file of a run's directory.
func acquire(dir string, flags int) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	lock, err := os.OpenFile(path, os.O_RDWR|flags, 0o600)
	if flags&os.O_CREATE != 0 && os.IsNotExist(err) {
		return nil, errNotOurs
	}
	if err != nil {
		return nil, err
	}
	if err := flock(lock, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

func flock(lock *os.File, path string) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errNotOurs
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	// The one who held the lock before may have removed the file.
	held, err := lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return errNotOurs
	}
	return nil
}

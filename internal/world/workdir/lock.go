package workdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file in a run's directory that the run has locked.
const lockName = ".lock"

// errNotOurs is returned if another process holds the lock, or has removed the directory.
var errNotOurs = errors.New("the directory is in use by another process")

// ErrInUse is returned by Lock for a directory that another process has locked.
var ErrInUse = errNotOurs

// LockName is the lock file in a locked directory.
const LockName = lockName

// Lock locks a directory that may outlive its run, until the lock is closed or the process ends.
// The error is ErrInUse if another process has locked it, or removes it.
func Lock(dir string) (io.Closer, error) {
	lock, err := acquire(dir, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	return lock, nil
}

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

// acquireFromDying acquires an existing lock. It waits while the holder ends, because a killed
// process has its lock until its last thread has ended.
func acquireFromDying(dir string) (*os.File, error) {
	const moment = 10 * time.Millisecond
	for deadline := time.Now().Add(killPatience); ; time.Sleep(moment) {
		lock, err := acquire(dir, 0)
		if !errors.Is(err, errNotOurs) || time.Now().After(deadline) || !isDying(ownerIn(dir)) {
			return lock, err
		}
	}
}

// ownerIn returns the owner that a directory's lock file names.
func ownerIn(dir string) owner {
	held, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return owner{} // it was removed meanwhile
	}
	defer held.Close()
	return readOwner(held)
}

func flock(lock *os.File, path string) error {
	err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errNotOurs
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	// The previous holder of the lock may have removed the file.
	held, err := lock.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(held, there) {
		return errNotOurs
	}
	return nil
}

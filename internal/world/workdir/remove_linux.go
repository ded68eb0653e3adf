package workdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// RemoveTree removes path and everything below it, but never enters a mount, not even a bind mount
// of the same file system, because data of a volume must survive a forgotten unmount. A mount point
// stays in place and returns EBUSY; the rest is removed. A missing path is not an error, and
// neither are files that other processes remove at the same time.
func RemoveTree(path string) error {
	parent, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer unix.Close(parent)
	return removeAt(parent, filepath.Base(path), path)
}

func removeAt(dir int, name, path string) error {
	switch err := unix.Unlinkat(dir, name, 0); {
	case err == nil, errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR):
		return unlinkError(path, err)
	}
	for try := 1; ; try++ {
		if err := emptyAt(dir, name, path); err != nil {
			return err
		}
		err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.ENOTEMPTY), try == mostTries:
			return unlinkError(path, err)
		}
	}
}

// mostTries bounds the attempts to empty a directory while other processes write to it. A clean-up
// that cannot observe a run's process locks the run's directory as soon as the run has removed its
// own lock.
const mostTries = 10

// emptyAt removes as many entries of a directory as possible, and returns the first error.
func emptyAt(dir int, name, path string) error {
	fd, err := unix.Openat2(dir, name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_XDEV,
	})
	switch {
	case errors.Is(err, unix.ENOENT): // another process removed it meanwhile
		return nil
	case errors.Is(err, unix.EXDEV):
		return unlinkError(path, unix.EBUSY)
	case err != nil:
		return &fs.PathError{Op: "openat2", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	slices.Sort(names)
	var first error
	for _, entry := range names {
		if err := removeAt(fd, entry, filepath.Join(path, entry)); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func unlinkError(path string, err error) error {
	return &fs.PathError{Op: "unlinkat", Path: path, Err: err}
}

// Package workdir provides the directory for all files of one run of csisim on the host, and finds
// and removes the leftovers of killed runs.
package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// Loop is a loop device with a file of a run.
type Loop struct {
	Device string // such as /dev/loop3
	File   string // relative to the run's directory
}

// tracesName is a file in a run's directory. It identifies the run's loop devices after their files
// are removed, or after a file system in memory with them is unmounted.
const tracesName = ".loops"

// EnvRun is the environment variable that marks the programs of a run: its value is the run's
// directory, or a directory below that.
const EnvRun = "CSISIM_RUN"

// Dir is the directory of a live run. A lock in the directory shows other runs that the directory
// is in use; the kernel releases the lock whenever the process ends.
type Dir struct {
	path string
	lock *os.File
	kept bool // it outlives the run
}

// ErrNoNamespace is returned if this process has no mount namespace of its own.
var ErrNoNamespace = errors.New("csisim has no mount namespace of its own")

// runs numbers the directories of this process.
var runs atomic.Int64

// New makes the directory of a run, <parent>/csisim-<pid>-<n>, with mode 0700. An empty parent is
// os.TempDir(). The error is a *CreateError.
func New(parent string) (*Dir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	dir, err := create(parent)
	if err != nil {
		return nil, &CreateError{Parent: parent, Err: err}
	}
	return dir, nil
}

func create(parent string) (*Dir, error) {
	real, err := realPath(parent)
	if err != nil {
		return nil, err
	}
	for {
		path := filepath.Join(real, fmt.Sprintf("csisim-%d-%d", namespaces.PID(), runs.Add(1)))
		dir, err := createAt(path)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, errNotOurs) {
			return dir, err
		}
	}
}

// realPath returns the kernel's form of a path: absolute, without symlinks.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

func createAt(path string) (*Dir, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(path, os.O_CREATE)
	if errors.Is(err, errNotOurs) {
		return nil, err // a Clean removed it between Mkdir and here
	}
	if err == nil {
		err = writeOwner(lock)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &Dir{path: path, lock: lock}, nil
}

// Path returns the directory, absolute and without symlinks.
func (d *Dir) Path() string { return d.path }

// Close kills processes that still use the directory, removes its content, and then the directory.
// It can be called again if it failed.
//
// A directory of Keep keeps its content.
func (d *Dir) Close() error {
	if d.kept {
		return errors.Join(d.release(), d.lock.Close())
	}
	if _, err := sweep(d.path, readOwner(d.lock)); err != nil {
		return err
	}
	return d.lock.Close()
}

// CreateError is returned if no work directory can be created. The user has to choose another
// parent or repair this one.
type CreateError struct {
	Parent string
	Err    error
}

func (e *CreateError) Error() string {
	return fmt.Sprintf("no work directory can be made in %s: %s: %v", e.Parent, e.advice(), e.Err)
}

func (e *CreateError) Unwrap() error { return e.Err }

func (e *CreateError) advice() string {
	switch {
	case errors.Is(e.Err, fs.ErrNotExist):
		return "it does not exist; create it or choose another"
	case errors.Is(e.Err, syscall.ENOTDIR):
		return "it is not a directory; choose another"
	case errors.Is(e.Err, syscall.EROFS):
		return "it is read-only; choose another"
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "its disk is full; free some space or choose another"
	case errors.Is(e.Err, fs.ErrPermission):
		return "it is not writable for this user; choose another"
	}
	return "choose another"
}

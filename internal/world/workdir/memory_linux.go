package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// Memory is a file system in memory for the directories of many runs of this process. Its size is
// limited. It is visible only in the process's own mount namespace, and ends with it.
type Memory struct {
	dir  *Dir // its mount point, which is removed like a run's directory
	size uint64
}

// memoryOptions limit how much of the machine's memory runs can use.
const memoryOptions = "mode=700,size=10%"

// NewMemory mounts a file system in memory in its own directory below parent, or os.TempDir(). If
// this process has no mount namespace of its own, it fails with ErrNoNamespace.
func NewMemory(parent string) (*Memory, error) {
	if !namespaces.Entered() {
		return nil, ErrNoNamespace
	}
	dir, err := New(parent)
	if err != nil {
		return nil, err
	}
	m := &Memory{dir: dir}
	if err := m.mount(); err != nil {
		return nil, errors.Join(fmt.Errorf("keep runs in memory: %w", err), dir.Close())
	}
	return m, nil
}

func (m *Memory) mount() error {
	if err := os.Mkdir(m.Path(), 0o700); err != nil {
		return err
	}
	if err := unix.Mount("csisim", m.Path(), "tmpfs", 0, memoryOptions); err != nil {
		return &fs.PathError{Op: "mount", Path: m.Path(), Err: err}
	}
	var mounted unix.Statfs_t
	if err := unix.Statfs(m.Path(), &mounted); err != nil {
		return err
	}
	m.size = mounted.Blocks * uint64(mounted.Bsize)
	var top unix.Stat_t
	if err := unix.Stat(m.Path(), &top); err != nil {
		return err
	}
	return leaveTrace(m.dir.path, fmt.Sprintf(runsTrace, top.Dev))
}

// Path returns the parent for the directories of runs.
func (m *Memory) Path() string { return filepath.Join(m.dir.path, "runs") }

// Size returns its size in bytes.
func (m *Memory) Size() uint64 { return m.size }

// Close removes the file system, with all leftovers of runs in it.
func (m *Memory) Close() error { return m.dir.Close() }

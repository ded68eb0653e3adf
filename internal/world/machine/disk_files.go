package machine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/csisim/csisim/internal/world/workdir"
)

// look runs a function that makes and removes nothing.
func (d *Disk) look(f func() error) error { return d.nodeError(d.do(f)) }

// change runs a function that changes the path real, which is a path of the machine's thread. It
// reports the changes to the watches, even if the function fails half way. Meanwhile it locks the
// watches, so that this call, and not a goroutine of a watch, reports the changes.
func (d *Disk) change(real string, f func() error) error {
	d.mu.Lock()
	watches := slices.Clone(d.watches)
	d.mu.Unlock()
	for _, w := range watches {
		w.mu.Lock()
	}
	err := d.look(func() error {
		err := f()
		for _, w := range watches {
			w.compareAround(real)
		}
		return err
	})
	var delivering []*diskWatch
	for _, w := range watches {
		if w.claim() { // before the watch's goroutine can
			delivering = append(delivering, w)
		}
		w.mu.Unlock()
	}
	for _, w := range delivering {
		w.mu.Lock()
		w.drain()
		w.mu.Unlock()
	}
	return err
}

// Mkdir creates one directory.
func (d *Disk) Mkdir(p string, perm fs.FileMode) error {
	real := d.within(p)
	return d.change(real, func() error { return os.Mkdir(real, perm) })
}

// MkdirAll makes a directory and its missing parents.
func (d *Disk) MkdirAll(p string, perm fs.FileMode) error {
	real := d.within(p)
	return d.change(real, func() error { return os.MkdirAll(real, perm) })
}

// WriteFile makes a file or replaces its content.
func (d *Disk) WriteFile(p string, data []byte, perm fs.FileMode) error {
	real := d.within(p)
	return d.change(real, func() error { return os.WriteFile(real, data, perm) })
}

// ReadFile returns the content of a file.
func (d *Disk) ReadFile(p string) (data []byte, err error) {
	err = d.look(func() error {
		data, err = os.ReadFile(d.within(p))
		return err
	})
	return data, err
}

// Remove unlinks a file or removes an empty directory.
func (d *Disk) Remove(p string) error {
	real := d.within(p)
	return d.change(real, func() error { return os.Remove(real) })
}

// RemoveAll removes path and everything below it, except mount points and the directories that lead
// to them.
func (d *Disk) RemoveAll(p string) error {
	real := d.within(p)
	return d.change(real, func() error { return workdir.RemoveTree(real) })
}

// ReadDir lists a directory, sorted by name.
func (d *Disk) ReadDir(p string) (entries []fs.DirEntry, err error) {
	err = d.look(func() error {
		entries, err = os.ReadDir(d.within(p))
		return err
	})
	return entries, err
}

// Lstat describes path itself, even if it is a symlink.
func (d *Disk) Lstat(p string) (info fs.FileInfo, err error) {
	err = d.look(func() error {
		info, err = os.Lstat(d.within(p))
		return err
	})
	return info, err
}

// Chmod sets the permissions of the file that path leads to.
func (d *Disk) Chmod(p string, mode fs.FileMode) error {
	return d.look(func() error { return os.Chmod(d.within(p), mode) })
}

// Lchown gives path itself to a user and a group.
func (d *Disk) Lchown(p string, uid, gid int) error {
	return d.look(func() error { return os.Lchown(d.within(p), uid, gid) })
}

// Symlink makes link point to target. An absolute target is a node path; the link contains the path
// that programs use.
func (d *Disk) Symlink(target, link string) error {
	if filepath.IsAbs(target) {
		target = d.ProgramPath(target)
	}
	real := d.within(link)
	return d.change(real, func() error { return os.Symlink(target, real) })
}

// Relink makes link point to target, even if link is already a symlink. It creates the new symlink
// as link_tmp, and renames it to link.
func (d *Disk) Relink(target, link string) error {
	if filepath.IsAbs(target) {
		target = d.ProgramPath(target)
	}
	real := d.within(link)
	return d.change(real, func() error {
		if info, err := os.Lstat(real); err == nil && info.Mode().Type() != fs.ModeSymlink {
			return &os.LinkError{Op: "rename", Old: target, New: real, Err: syscall.EEXIST}
		}
		next := real + "_tmp"
		if err := os.Symlink(target, next); err != nil {
			return err
		}
		if err := os.Rename(next, real); err != nil {
			_ = os.Remove(next)
			return err
		}
		return nil
	})
}

// Readlink returns the target of a symlink.
func (d *Disk) Readlink(p string) (target string, err error) {
	err = d.look(func() error {
		target, err = os.Readlink(d.within(p))
		return err
	})
	return d.NodePath(target), err
}

// EvalSymlinks returns the path that names the same file without any symlink.
func (d *Disk) EvalSymlinks(p string) (resolved string, err error) {
	err = d.look(func() error {
		resolved, err = filepath.EvalSymlinks(d.within(p))
		return err
	})
	if err != nil {
		return "", err
	}
	return d.NodePath(resolved), nil
}

//go:build linux

// Package backend is the storage system behind the hostdir driver: volumes,
// snapshots, groups of these, attachments and nodes, kept as files in one directory that the
// controller and all nodes share.
//
// A volume or snapshot is a directory that holds its record and its data. A single rename creates
// or removes it, so a process killed at any point leaves either all or none of it.
package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Errors of the backend.
var (
	ErrNotFound     = errors.New("not found")
	ErrIncompatible = errors.New("exists with other properties")
	ErrInUse        = errors.New("in use")
	ErrOutOfRange   = errors.New("size out of range")
	ErrExhausted    = errors.New("exhausted")
	ErrUnsuitable   = errors.New("unsuitable")
)

const (
	volumesDir   = "volumes"
	snapshotsDir = "snapshots"
	groupsDir    = "groups"
	nodesDir     = "nodes"
	partialDir   = "partial"
	recordFile   = "record.json"
)

// Backend is one shared storage directory. Every method locks the directory's lock file, so any
// number of processes may use the directory at once.
type Backend struct {
	dir  string
	lock string   // the lock file
	site string   // the name of this site; empty without a second site
	peer *Backend // the other site; nil without one

	serving *os.File // open while this process runs, for the other site

	// Jobs configures work outside the calls. Default: none.
	Jobs Jobs
	// Format is the form of the records of volumes. Default: V1.
	Format Format
}

// Open creates the missing directories below dir and removes the partial work of a killed process.
func Open(dir string) (*Backend, error) { return openWith(dir, "lock") }

// openWith opens a backend with a lock file, given by its path relative to dir.
func openWith(dir, lock string) (*Backend, error) {
	for _, sub := range []string{volumesDir, snapshotsDir, groupsDir, nodesDir, partialDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("open backend: %w", err)
		}
	}
	// The mount table, which contains no links, is compared with paths below dir.
	dir, err := realPath(dir)
	if err != nil {
		return nil, fmt.Errorf("open backend: %w", err)
	}
	b := &Backend{dir: dir, lock: filepath.Join(dir, lock)}
	return b, b.exclusively(func() error {
		return clear(filepath.Join(dir, partialDir))
	})
}

// Dir returns the shared directory.
func (b *Backend) Dir() string { return b.dir }

// FreeBytes returns the free space of the file system below the backend.
func (b *Backend) FreeBytes() (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(b.dir, &fs); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", b.dir, err)
	}
	return int64(fs.Bavail) * fs.Bsize, nil
}

// Lose drops every volume and snapshot.
func (b *Backend) Lose() error {
	return b.exclusively(func() error {
		return errors.Join(
			clear(filepath.Join(b.dir, volumesDir)), clear(filepath.Join(b.dir, snapshotsDir)), clear(filepath.Join(b.dir, groupsDir)))
	})
}

// exclusively calls fn under the lock: no other process, and no other call in this process, runs at
// the same time. The lock of a killed process is released.
func (b *Backend) exclusively(fn func() error) error {
	lock, err := os.OpenFile(b.lock, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("open lock of backend: %w", err)
	}
	defer lock.Close()
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock backend: %w", err)
		}
	}
	return fn()
}

// install builds an object in a temporary place with fill, and moves the complete object into
// place.
func (b *Backend) install(kind, id string, record any, fill func(dir string) error) error {
	partial := filepath.Join(b.dir, partialDir, id)
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.Mkdir(partial, 0o755); err != nil {
		return err
	}
	err := fill(partial)
	if err == nil {
		err = WriteJSON(filepath.Join(partial, recordFile), record)
	}
	if err == nil {
		err = os.Rename(partial, b.object(kind, id))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(partial))
	}
	return nil
}

// remove hides an object by one rename and then frees its space.
func (b *Backend) remove(kind, id string) error {
	partial := filepath.Join(b.dir, partialDir, id)
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.Rename(b.object(kind, id), partial); err != nil {
		return err
	}
	return os.RemoveAll(partial)
}

func (b *Backend) object(kind, id string) string {
	return filepath.Join(b.dir, kind, id)
}

// load reads an object's record. An impossible id, such as one with a slash, is not found.
func (b *Backend) load(kind, id string, record any) error {
	if id != filepath.Base(id) || !filepath.IsLocal(id) {
		return fmt.Errorf("%s %q: %w", kind, id, ErrNotFound)
	}
	err := ReadJSON(filepath.Join(b.object(kind, id), recordFile), record)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s %q: %w", kind, id, ErrNotFound)
	}
	return err
}

// ids lists the objects of a kind in order.
func (b *Backend) ids(kind string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(b.dir, kind))
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.Name()
	}
	return ids, nil
}

// identify derives an id from a name, so that a repeated call finds the first call's object even if
// the first answer was lost.
func identify(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:12])
}

// WriteJSON replaces the file at path atomically. It does not sync, since the backend never loses
// power.
func WriteJSON(path string, v any) error {
	return replace(path, v, func(*os.File) error { return nil })
}

// WriteJSONSynced is WriteJSON for a file that survives a loss of power: it writes the content to
// disk before the name.
func WriteJSONSynced(path string, v any) error { return replace(path, v, (*os.File).Sync) }

func replace(path string, v any, finish func(*os.File) error) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".next-*")
	if err != nil {
		return err
	}
	if _, err = next.Write(append(text, '\n')); err == nil {
		err = finish(next)
	}
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// ReadJSON reads a file from WriteJSON.
func ReadJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

package fakekubelet

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/machine"
)

// projection is the directory of a volume with files that the kubelet makes from objects. The files
// are in a directory named after its creation time, and the link ..data points to that directory.
// Containers see links through ..data: token -> ..data/token. New content is written beside the old
// content, and then ..data is redirected to it. Therefore no process ever reads half of a file, or
// a mixture of old and new files. (kubernetes v1.36.3, pkg/volume/util/atomic_writer.go)
type projection struct {
	machine machine.Machine
	dir     string
	modes   map[string]fs.FileMode // individual modes of files
	group   *int64                 // the pod's fsGroup, which can read the files
}

// current is the link to the directory with the files.
const current = "..data"

// write replaces the files of the projection by content.
func (v projection) write(content files, mode fs.FileMode, now time.Time) error {
	if err := v.machine.MkdirAll(v.dir, 0o755); err != nil {
		return err
	}
	old, err := v.machine.Readlink(path.Join(v.dir, current))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old != "" && v.holds(old, content) {
		return v.link(content)
	}
	made, err := v.fill(content, mode, now)
	if err != nil {
		return err
	}
	if err := v.machine.Relink(made, path.Join(v.dir, current)); err != nil {
		return err
	}
	if err := v.link(content); err != nil {
		return err
	}
	if err := v.unlink(content); err != nil || old == "" {
		return err
	}
	return v.machine.RemoveAll(path.Join(v.dir, old))
}

// holds reports whether a directory of the projection has these files and no others.
func (v projection) holds(name string, content files) bool {
	is := files{}
	err := v.read(path.Join(v.dir, name), "", is)
	return err == nil && maps.EqualFunc(is, content, bytes.Equal)
}

// read collects the files below a directory.
func (v projection) read(dir, below string, into files) error {
	entries, err := v.machine.ReadDir(path.Join(dir, below))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(below, e.Name())
		if e.IsDir() {
			err = v.read(dir, name, into)
		} else {
			into[name], err = v.machine.ReadFile(path.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill writes the files to a new directory, and returns its name.
func (v projection) fill(content files, mode fs.FileMode, now time.Time) (string, error) {
	made, err := v.newDir(now)
	if err != nil {
		return "", err
	}
	for _, name := range sortedNames(content) {
		file := path.Join(v.dir, made, name)
		if err := v.machine.MkdirAll(path.Dir(file), 0o755); err != nil {
			return "", err
		}
		own, ok := v.modes[name]
		if !ok {
			own = mode
		}
		if err := v.machine.WriteFile(file, content[name], own); err != nil {
			return "", err
		}
		if v.giveToGroup(file) {
			own |= 0o440
		}
		if err := v.machine.Chmod(file, own); err != nil { // whatever the umask
			return "", err
		}
	}
	return made, nil
}

// giveToGroup gives a file to the group of the pod, if it has one. An ordinary user cannot.
func (v projection) giveToGroup(file string) bool {
	return v.group != nil && v.machine.Lchown(file, -1, int(*v.group)) == nil
}

// newDir creates a directory named after the time and a number, where the real name contains a
// random part.
func (v projection) newDir(now time.Time) (string, error) {
	for n := 1; ; n++ {
		name := now.UTC().Format("..2006_01_02_15_04_05.") + fmt.Sprintf("%09d", n)
		err := v.machine.Mkdir(path.Join(v.dir, name), 0o755)
		if err == nil {
			return name, v.machine.Chmod(path.Join(v.dir, name), 0o755)
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// link shows new files; a directory of files is one link.
func (v projection) link(content files) error {
	for _, name := range sortedNames(content) {
		first, _, _ := strings.Cut(name, "/")
		err := v.machine.Symlink(path.Join(current, first), path.Join(v.dir, first))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// unlink hides files that no longer exist.
func (v projection) unlink(content files) error {
	shown := map[string]bool{}
	for name := range content { // any order: they go into a map
		first, _, _ := strings.Cut(name, "/")
		shown[first] = true
	}
	entries, err := v.machine.ReadDir(v.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "..") || shown[e.Name()] {
			continue
		}
		if err := v.machine.Remove(path.Join(v.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

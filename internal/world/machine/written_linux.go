package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// bookkeeping are paths that system tools write on every machine.
var bookkeeping = []string{"/run/mount", "/run/blkid", "/etc/mtab", "/run/lock"}

// Written lists the changes that programs have made to host directories, or would have made without
// the layers: "made /etc/x", "changed …", "removed …". A directory has a trailing slash, and its
// content is not listed. It leaves out the directories that containers keep, because they belong to
// the node. It is empty without a namespace.
func (d *Disk) Written() ([]string, error) {
	if d.own == nil || d.own.layers == nil || d.own.layers.upper == nil {
		return nil, nil
	}
	d.mu.Lock()
	roots := append([]*ownRoot{d.own}, d.containers...)
	kept := d.nodePaths
	d.mu.Unlock()
	var found []string
	for _, root := range roots {
		if root.layers == nil || root.layers.upper == nil {
			continue // it was not built
		}
		its, err := root.layers.written()
		if err != nil {
			return nil, fmt.Errorf("look for files that programs of node %s have written: %w", d.name, err)
		}
		found = append(append(found, its...), root.wrote...)
	}
	sortChanges(found)
	found = slices.Compact(found)
	return slices.DeleteFunc(found, func(change string) bool { return d.isFurnished(change) || isKept(change, kept) }), nil
}

// isFurnished reports whether a change was there before the programs, or is in a directory that
// was: if the host gets that directory later, its content is listed.
func (d *Disk) isFurnished(change string) bool {
	_, name, _ := strings.Cut(change, " ")
	for known := range d.furnished { // in any order: each decides by itself
		dir, made := strings.CutPrefix(known, "made ")
		if known == change || made && strings.HasSuffix(dir, "/") && strings.HasPrefix(name, dir) {
			return true
		}
	}
	return false
}

// isKept reports whether a change is in a directory that containers keep on the node, or created a
// parent of such a directory.
func isKept(change string, kept []string) bool {
	verb, name, _ := strings.Cut(change, " ")
	name = strings.TrimSuffix(name, "/")
	return slices.ContainsFunc(kept, func(dir string) bool {
		_, below := cutDir(name, dir)
		_, above := cutDir(dir, name)
		return below || above && verb == "made"
	})
}

// written looks through the upper directories, and through the machine's own directories.
func (l *layers) written() (found []string, err error) {
	for i, dir := range l.covered {
		upper := fmt.Sprintf("/proc/self/fd/%d/%d/upper", l.upper.Fd(), i)
		err := filepath.WalkDir(upper, func(p string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed meanwhile
			}
			if err != nil || p == upper {
				return err
			}
			name := path.Join(dir, strings.TrimPrefix(p, upper))
			change, below := l.changed(name, e)
			if change != "" {
				found = append(found, change)
			}
			if e.IsDir() && !below {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, dir := range l.opened {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d%s", l.top.Fd(), dir))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if _, err := os.Lstat(name); err != nil && !l.shown[name] && !l.isOwn(name) && !l.layout.isAbove(name) {
				found = append(found, "made "+marked(name, e))
			}
		}
	}
	sortChanges(found)
	return slices.Compact(found), nil
}

// sortChanges sorts them by path.
func sortChanges(changes []string) {
	slices.SortFunc(changes, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
}

// changed describes the change of an entry in a layer, and reports whether entries below it may
// also have changed.
func (l *layers) changed(name string, e fs.DirEntry) (change string, below bool) {
	if l.isOwn(name) {
		return "", false
	}
	host, err := os.Lstat(name)
	switch {
	case err != nil && e.IsDir() && l.layout.isAbove(name):
		return "", true
	case isWhiteout(e):
		return "removed " + name, false
	case err != nil:
		return "made " + marked(name, e), false
	case e.IsDir() && host.IsDir():
		return "", true
	}
	return "changed " + marked(name, e), false
}

// isWhiteout reports whether an entry of an upper directory marks a removed entry.
func isWhiteout(e fs.DirEntry) bool {
	if e.Type()&fs.ModeCharDevice == 0 {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Rdev == 0
}

func marked(name string, e fs.DirEntry) string {
	if e.IsDir() {
		return name + "/"
	}
	return name
}

// isOwn reports whether a path belongs to the machine or its system tools, or only leads to such
// paths.
func (l *layers) isOwn(name string) bool {
	for _, own := range bookkeeping {
		if _, is := cutDir(name, own); is {
			return true
		}
	}
	return l.layout.inPlace(name)
}

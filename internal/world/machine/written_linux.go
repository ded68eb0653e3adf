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

// bookkeeping is what the tools of the system write wherever they run.
var bookkeeping = []string{"/run/mount", "/run/blkid", "/etc/mtab", "/run/lock"}

// Written lists what programs have done to the host's directories, or would have without
// the layers over them: "made /etc/x", "changed …", "removed …", with a slash behind
// directories, whose content is not listed. It is empty without a namespace.
func (d *Disk) Written() ([]string, error) {
	if d.own == nil || d.own.layers == nil || d.own.layers.upper == nil {
		return nil, nil
	}
	d.mu.Lock()
	roots := append([]*ownRoot{d.own}, d.containers...)
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
	return slices.DeleteFunc(found, func(change string) bool { return d.furnished[change] }), nil
}

// written looks through the upper directories, and through directories of the machine's own.
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
			if _, err := os.Lstat(name); err != nil && !isOwn(name) {
				found = append(found, "made "+marked(name, e))
			}
		}
	}
	sortChanges(found)
	return slices.Compact(found), nil
}

// sortChanges sorts them by their paths.
func sortChanges(changes []string) {
	slices.SortFunc(changes, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
}

// changed says what was done to a name that a layer has, and whether more can be found
// below it.
func (l *layers) changed(name string, e fs.DirEntry) (change string, below bool) {
	if isOwn(name) {
		return "", false
	}
	host, err := os.Lstat(name)
	switch {
	case isWhiteout(e):
		return "removed " + name, false
	case err != nil:
		return "made " + marked(name, e), false
	case e.IsDir() && host.IsDir():
		return "", true
	}
	return "changed " + marked(name, e), false
}

// isWhiteout reports whether an entry of an upper directory says that there is none.
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

// isOwn reports whether a path is the machine's or its system's, or leads to nothing else.
func isOwn(name string) bool {
	for _, own := range bookkeeping {
		if _, is := cutDir(name, own); is {
			return true
		}
	}
	return inPlace(name)
}

package machine

import (
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// maxSymlinks is the number of symlinks that Linux follows in one path.
const maxSymlinks = 40

// location is a point of the tree during a path walk: an inode, and the mount through which it was
// reached.
type location struct {
	mount *mount
	node  *inode
}

// walk is a path resolution under way.
type walk struct {
	m         *Memory
	at        location
	rest      []string
	followEnd bool // follow a symlink that is the last component
	symlinks  int
}

// locate resolves a path. The last component is not followed if it is a symlink.
func (m *Memory) locate(p string) (location, error) { return m.resolve(p, false) }

// follow resolves a path, all symlinks included.
func (m *Memory) follow(p string) (location, error) { return m.resolve(p, true) }

func (m *Memory) resolve(p string, followEnd bool) (location, error) {
	if at, ok, err := m.straight(p); ok {
		return at, err
	}
	w := walk{m: m, at: m.top(location{&m.root, m.root.root}), rest: components(p), followEnd: followEnd}
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return location{}, err
		}
	}
	return w.at, nil
}

// straight resolves the common case: a clean path without symlinks. For all other paths it returns
// false, and the walk handles them.
func (m *Memory) straight(p string) (at location, ok bool, err error) {
	at = m.top(location{&m.root, m.root.root})
	for len(p) > 1 && p[0] == '/' {
		p = p[1:]
		name := p
		if end := strings.IndexByte(p, '/'); end >= 0 {
			name, p = p[:end], p[end:]
		} else {
			p = ""
		}
		if name == "" || name == "." || name == ".." {
			return location{}, false, nil
		}
		child := at.node.child(name)
		switch {
		case !at.node.mode.IsDir():
			return location{}, true, syscall.ENOTDIR
		case child == nil:
			return location{}, true, syscall.ENOENT
		case child.mode.Type() == fs.ModeSymlink:
			return location{}, false, nil
		}
		at = m.top(location{at.mount, child})
	}
	return at, p == "" || p == "/", nil
}

// entry resolves the directory part of a path. The last component is to be created or removed.
func (m *Memory) entry(p string) (dir location, name string, err error) {
	parent, name := path.Split(clean(p))
	dir, err = m.follow(parent)
	if err != nil {
		return dir, "", err
	}
	if !dir.node.mode.IsDir() {
		return dir, "", syscall.ENOTDIR
	}
	return dir, name, nil
}

func (w *walk) step() error {
	name := w.rest[0]
	w.rest = w.rest[1:]
	if !w.at.node.mode.IsDir() {
		return syscall.ENOTDIR
	}
	if name == ".." {
		w.up()
		return nil
	}
	child := w.at.node.child(name)
	if child == nil {
		return syscall.ENOENT
	}
	if child.mode.Type() == fs.ModeSymlink && (w.followEnd || len(w.rest) > 0) {
		return w.into(child.data())
	}
	w.at = w.m.top(location{w.at.mount, child})
	return nil
}

func (w *walk) up() {
	for w.at.node == w.at.mount.root && w.at.mount != &w.m.root {
		w.at = w.at.mount.on
	}
	if w.at.node.parent != nil {
		w.at = w.m.top(location{w.at.mount, w.at.node.parent})
	}
}

func (w *walk) into(target string) error {
	if w.symlinks++; w.symlinks > maxSymlinks {
		return syscall.ELOOP
	}
	if strings.HasPrefix(target, "/") {
		w.at = w.m.top(location{&w.m.root, w.m.root.root})
	}
	w.rest = append(components(target), w.rest...)
	return nil
}

// path returns the node path of a location, without symlinks.
func (m *Memory) path(at location) string {
	for at.node == at.mount.root && at.mount != &m.root {
		at = at.mount.on
	}
	if at.node.parent == nil {
		return "/"
	}
	return below(m.path(location{at.mount, at.node.parent}), at.node.name)
}

// clean is path.Clean with a faster check for paths that are already clean, because nearly all
// paths are.
func clean(p string) string {
	if strings.HasPrefix(p, "/") && !strings.HasSuffix(p, "/") && !strings.Contains(p, "//") && !strings.Contains(p, "/.") {
		return p
	}
	return path.Clean(p)
}

// above returns the directory of a clean path.
func above(p string) string {
	if end := strings.LastIndexByte(p, '/'); end > 0 {
		return p[:end]
	}
	return path.Dir(p)
}

// below joins a name to a clean directory path.
func below(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// components splits a path. It keeps "..", because a symlink may precede it.
func components(p string) []string {
	var names []string
	for name := range strings.SplitSeq(p, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

func dirMode(perm fs.FileMode) fs.FileMode { return fs.ModeDir | perm.Perm()&^umask }

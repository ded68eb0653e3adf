package machine

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Mkdir makes one directory.
func (m *Memory) Mkdir(p string, perm fs.FileMode) error {
	return m.change(func() error { return pathError("mkdir", p, m.mkdir(p, perm)) })
}

func (m *Memory) mkdir(p string, perm fs.FileMode) error {
	_, err := m.create(p, dirMode(perm))
	return err
}

// create adds an entry to a directory.
func (m *Memory) create(p string, mode fs.FileMode) (*inode, error) {
	if clean(p) == "/" {
		return nil, syscall.EEXIST
	}
	dir, name, err := m.entry(p)
	if err != nil {
		return nil, err
	}
	if dir.node.child(name) != nil {
		return nil, syscall.EEXIST
	}
	if dir.node.deleted {
		return nil, syscall.ENOENT
	}
	if dir.mount.readOnly {
		return nil, syscall.EROFS
	}
	node := dir.node.add(name, mode)
	m.notify(Created, node)
	return node, nil
}

// MkdirAll makes a directory and its missing parents.
func (m *Memory) MkdirAll(p string, perm fs.FileMode) error {
	return m.change(func() error { return m.mkdirAll(clean(p), perm) })
}

func (m *Memory) mkdirAll(p string, perm fs.FileMode) error {
	at, err := m.follow(p)
	if err == nil {
		if !at.node.mode.IsDir() {
			return pathError("mkdir", p, syscall.ENOTDIR)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return pathError("mkdir", p, err)
	}
	if err := m.mkdirAll(above(p), perm); err != nil {
		return err
	}
	return pathError("mkdir", p, m.mkdir(p, perm))
}

// WriteFile makes a file or replaces its content.
func (m *Memory) WriteFile(p string, data []byte, perm fs.FileMode) error {
	return m.change(func() error { return pathError("open", p, m.writeFile(p, data, perm)) })
}

func (m *Memory) writeFile(p string, data []byte, perm fs.FileMode) error {
	at, err := m.follow(p)
	if errors.Is(err, fs.ErrNotExist) {
		at.node, err = m.create(p, perm.Perm()&^umask)
	} else if err == nil && at.mount.readOnly {
		err = syscall.EROFS
	}
	if err != nil {
		return err
	}
	if err := at.node.notReadable(); err != nil {
		return err
	}
	at.node.inside = content(data)
	return nil
}

// ReadFile returns the content of a file.
func (m *Memory) ReadFile(p string) (data []byte, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if err != nil {
			return pathError("open", p, err)
		}
		if err := at.node.notReadable(); err != nil {
			return pathError("open", p, err)
		}
		data = []byte(at.node.data())
		return nil
	})
	return data, err
}

// ReadDir lists a directory, sorted by name.
func (m *Memory) ReadDir(p string) (entries []fs.DirEntry, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if err != nil {
			return pathError("open", p, err)
		}
		if !at.node.mode.IsDir() {
			return pathError("open", p, syscall.ENOTDIR)
		}
		for _, child := range at.node.children() {
			shown := m.top(location{at.mount, child}).node
			entries = append(entries, fs.FileInfoToDirEntry(shown.info(child.name)))
		}
		return nil
	})
	return entries, err
}

// Lstat describes path itself, even if it is a symlink.
func (m *Memory) Lstat(p string) (info fs.FileInfo, err error) {
	err = m.read(func() error {
		at, err := m.locate(p)
		if err != nil {
			return pathError("lstat", p, err)
		}
		info = at.node.info(path.Base(clean(p)))
		return nil
	})
	return info, err
}

// Chmod sets the permissions of the file that path leads to.
func (m *Memory) Chmod(p string, mode fs.FileMode) error {
	return m.change(func() error {
		at, err := m.follow(p)
		if err == nil && at.mount.readOnly {
			err = syscall.EROFS
		}
		if err != nil {
			return pathError("chmod", p, err)
		}
		at.node.mode = at.node.mode&^permissions | mode&permissions
		return nil
	})
}

// Lchown gives path itself to a user and a group.
func (m *Memory) Lchown(p string, uid, gid int) error {
	return m.change(func() error {
		at, err := m.locate(p)
		if err == nil && at.mount.readOnly {
			err = syscall.EROFS
		}
		if err != nil {
			return pathError("lchown", p, err)
		}
		at.node.chown(uid, gid)
		return nil
	})
}

// Symlink makes link point to target, which need not exist.
func (m *Memory) Symlink(target, link string) error {
	return m.change(func() error {
		node, err := m.create(link, fs.ModeSymlink|0o777)
		if err != nil {
			return &os.LinkError{Op: "symlink", Old: target, New: link, Err: err}
		}
		node.inside = content(target)
		return nil
	})
}

// Relink makes link point to target, even if link is already a symlink.
func (m *Memory) Relink(target, link string) error {
	return m.change(func() error {
		at, err := m.locate(link)
		if err != nil || at.node.mode.Type() != fs.ModeSymlink {
			at.node, err = m.create(link, fs.ModeSymlink|0o777)
		}
		if err == nil && at.mount != nil && at.mount.readOnly {
			err = syscall.EROFS
		}
		if err != nil {
			return &os.LinkError{Op: "rename", Old: target, New: link, Err: err}
		}
		at.node.inside = content(target)
		return nil
	})
}

// Readlink returns the target of a symlink.
func (m *Memory) Readlink(p string) (target string, err error) {
	err = m.read(func() error {
		at, err := m.locate(p)
		if err == nil && at.node.mode.Type() != fs.ModeSymlink {
			err = syscall.EINVAL
		}
		if err != nil {
			return pathError("readlink", p, err)
		}
		target = at.node.data()
		return nil
	})
	return target, err
}

// EvalSymlinks returns the path that names the same file without any symlink.
func (m *Memory) EvalSymlinks(p string) (resolved string, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if err != nil {
			return pathError("lstat", p, err)
		}
		resolved = m.layout.named(m.path(at))
		return nil
	})
	return resolved, err
}

// pathError wraps the errno of an operation like package os.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

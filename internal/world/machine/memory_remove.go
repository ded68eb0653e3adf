package machine

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// Remove unlinks a file or removes an empty directory.
func (m *Memory) Remove(p string) error {
	return m.change(func() error { return pathError("remove", p, m.remove(p)) })
}

func (m *Memory) remove(p string) error {
	dir, name, err := m.entry(p)
	if err != nil {
		return err
	}
	node := dir.node.child(name)
	switch {
	case clean(p) == "/":
		return syscall.EBUSY
	case node == nil:
		return syscall.ENOENT
	case dir.mount.readOnly:
		return syscall.EROFS
	case node.mounts > 0:
		return syscall.EBUSY
	case len(node.children()) > 0:
		return syscall.ENOTEMPTY
	}
	m.notify(Removed, node)
	node.unlink()
	return nil
}

// RemoveAll removes path and everything below it, except mount points and the directories that lead
// to them.
func (m *Memory) RemoveAll(p string) error {
	return m.change(func() error { return m.removeAll(clean(p)) })
}

func (m *Memory) removeAll(p string) error {
	at, err := m.locate(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return pathError("unlinkat", p, err)
	}
	if at.node == at.mount.root {
		return pathError("unlinkat", p, syscall.EBUSY)
	}
	var first error
	for _, child := range slices.Clone(at.node.children()) {
		if err := m.removeAll(below(p, child.name)); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return first
	}
	return pathError("unlinkat", p, m.remove(p))
}

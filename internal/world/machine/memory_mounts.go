package machine

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// mount shows a part of the tree at another place. The root file system is a mount without a mount
// point.
type mount struct {
	root     *inode
	on       location // its place
	order    int      // later mounts have higher numbers
	readOnly bool
}

// top returns the root of the mount that covers a location, or the location itself.
func (m *Memory) top(at location) location {
	for at.node.mounts > 0 {
		over, ok := m.mounted[at]
		if !ok { // the inode has a mount, but only where another path reaches it
			return at
		}
		at = location{over, over.root}
	}
	return at
}

// BindMount shows source at target.
func (m *Memory) BindMount(source, target string, readOnly bool) error {
	return m.change(func() error {
		return pathError("bind mount "+source+" on", target, m.bind(source, target, readOnly))
	})
}

// BindMountFrom shows a directory or file of another machine at target. The other machine is a
// storage that several machines share.
func (m *Memory) BindMountFrom(storage *Memory, source, target string, readOnly bool) error {
	return m.change(func() error {
		from, err := storage.follow(source)
		if err == nil {
			err = m.show(from, target, readOnly)
		}
		return pathError("bind mount "+source+" on", target, err)
	})
}

func (m *Memory) bind(source, target string, readOnly bool) error {
	from, err := m.follow(source)
	if err != nil {
		return err
	}
	return m.show(from, target, readOnly)
}

func (m *Memory) show(from location, target string, readOnly bool) error {
	on, err := m.follow(target)
	if err != nil {
		return err
	}
	if from.node.mode.IsDir() != on.node.mode.IsDir() {
		return syscall.ENOTDIR
	}
	if m.mounted == nil {
		m.mounted = make(map[location]*mount)
	}
	m.nextMount++
	// As in Linux, a bind of a read-only mount is read-only too.
	m.mounted[on] = &mount{root: from.node, on: on, order: m.nextMount, readOnly: readOnly || from.mount.readOnly}
	on.node.mounts++
	return nil
}

// Unmount removes the topmost mount at target.
func (m *Memory) Unmount(target string) error {
	return m.change(func() error { return pathError("unmount", target, m.unmount(target)) })
}

func (m *Memory) unmount(target string) error {
	at, err := m.follow(target)
	if err != nil {
		return err
	}
	if !m.isMountRoot(at) {
		return syscall.EINVAL
	}
	for below := range m.mounted {
		if below.mount == at.mount {
			return syscall.EBUSY
		}
	}
	if m.isBusy(at.mount) {
		return syscall.EBUSY
	}
	on := at.mount.on
	delete(m.mounted, on)
	on.node.mounts--
	return nil
}

// IsShared reports whether path leads into a storage that other machines may share.
func (m *Memory) IsShared(p string) (shared bool) {
	_ = m.read(func() error {
		at, err := m.follow(p)
		shared = err == nil && !at.node.isIn(m.root.root)
		return err
	})
	return shared
}

func (m *Memory) isMountRoot(at location) bool {
	return at.mount != &m.root && at.node == at.mount.root
}

// IsMountPoint reports whether there is a mount at path.
func (m *Memory) IsMountPoint(p string) (is bool, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		is = err == nil && m.isMountRoot(at)
		return pathError("stat", p, err)
	})
	return is, err
}

// Mounts lists all mounts except the root file system.
func (m *Memory) Mounts() (mounts []Mount, err error) {
	err = m.read(func() error {
		all := make([]*mount, 0, len(m.mounted))
		for _, one := range m.mounted {
			all = append(all, one)
		}
		slices.SortFunc(all, func(a, b *mount) int { return a.order - b.order })
		for _, one := range all {
			mounts = append(mounts, m.describe(one))
		}
		return nil
	})
	sortMounts(mounts)
	return mounts, err
}

// The time of MountsAt does not depend on the number of mounts elsewhere.
func (m *Memory) MountsAt(p string) (n int, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for err == nil && m.isMountRoot(at) {
			n, at = n+1, at.mount.on
		}
		return err
	})
	return n, err
}

// References lists the other mounts of the same inode.
func (m *Memory) References(p string) (others []string, err error) {
	err = m.read(func() error {
		at, err := m.follow(p)
		if err != nil || !m.isMountRoot(at) {
			return nil
		}
		for _, one := range m.mounted {
			if one.root == at.node && one != at.mount {
				others = append(others, m.layout.named(m.path(one.on)))
			}
		}
		return nil
	})
	slices.Sort(others)
	return others, err
}

func (m *Memory) describe(one *mount) Mount {
	access := "rw"
	if one.readOnly {
		access = "ro"
	}
	return Mount{
		Source:   "memory",
		Target:   m.layout.named(m.path(one.on)),
		Root:     m.layout.named(one.root.path()),
		FSType:   "memory",
		Device:   "0:1",
		Options:  []string{access},
		ReadOnly: one.readOnly,
	}
}

// sortMounts sorts by target and keeps the order of mounts on one target.
func sortMounts(mounts []Mount) {
	slices.SortStableFunc(mounts, func(a, b Mount) int { return strings.Compare(a.Target, b.Target) })
}

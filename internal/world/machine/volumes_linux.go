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

	"golang.org/x/sys/unix"
)

// volumeMounts shows volumes to the calling thread. The thread's mount namespace is a copy of its
// machine's, and mount points are created only for that thread.
type volumeMounts struct {
	layout Layout
	node   *os.File        // the machine's root, where the volumes are
	shown  []string        // the paths of volumes, without symlinks
	own    map[uint64]bool // file systems that were made for the thread
	// noDevices prevents the opening of device nodes in volumes, except volumes that are devices.
	noDevices bool
}

// mountVolumes shows volumes in addition to the machine's own files. With ownKubeletDir, the
// kubelet's directory contains only the volumes.
func mountVolumes(volumes []Volume, l Layout, ownKubeletDir bool) error {
	node, err := os.Open("/")
	if err != nil {
		return err
	}
	defer node.Close()
	m := &volumeMounts{layout: l, node: node, own: map[uint64]bool{}}
	if slices.ContainsFunc(volumes, isMissingBelowRoot) {
		if err := m.reopenRoot(); err != nil {
			return fmt.Errorf("make a root for the mount points of volumes: %w", err)
		}
	}
	if !ownKubeletDir {
		return m.mountAll(volumes)
	}
	return m.mountApart(volumes)
}

// mountAll shows volumes, parents before those below them.
func (m *volumeMounts) mountAll(volumes []Volume) error {
	for _, v := range sortedByDepth(volumes) {
		if err := m.mount(v); err != nil {
			return err
		}
	}
	return nil
}

// mountApart hides the kubelet's directory, and then shows volumes.
func (m *volumeMounts) mountApart(volumes []Volume) error {
	volumes = sortedByDepth(volumes)
	trees := make([]*os.File, len(volumes))
	for i, v := range volumes {
		var err error
		if trees[i], err = m.treeOf(v); err != nil {
			return err
		}
		defer trees[i].Close()
	}
	dir := m.layout.real()
	if err := propagate(dir, unix.MS_PRIVATE|unix.MS_REC); err != nil {
		return err
	}
	if err := mountError(dir, unix.Unmount(dir, unix.MNT_DETACH)); err != nil {
		return err
	}
	if err := m.mountMemory(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir+"/plugins_registry", 0o755); err != nil { // /registration leads to it
		return err
	}
	// Through the symlink, volumes at its path would be mounted in the hidden directory.
	if link := m.layout.symlink(); link != "" {
		if err := m.reopen(path.Dir(link), path.Base(link)); err != nil {
			return err
		}
	}
	for i, v := range volumes {
		if err := volumeError(v, m.show(v, trees[i])); err != nil {
			return err
		}
	}
	return nil
}

func sortedByDepth(volumes []Volume) []Volume {
	sorted := slices.Clone(volumes)
	slices.SortStableFunc(sorted, func(a, b Volume) int {
		return strings.Count(path.Clean(a.Path), "/") - strings.Count(path.Clean(b.Path), "/")
	})
	return sorted
}

func (m *volumeMounts) mount(v Volume) error {
	tree, err := m.treeOf(v)
	if err != nil {
		return err
	}
	defer tree.Close()
	return volumeError(v, m.show(v, tree))
}

// treeOf returns a copy of a volume's source, with the mounts below it.
func (m *volumeMounts) treeOf(v Volume) (*os.File, error) {
	source, err := openBelow(m.node, v.Source)
	if err != nil {
		return nil, volumeError(v, err)
	}
	defer source.Close()
	tree, err := treeCopy(source)
	return tree, volumeError(v, err)
}

func volumeError(v Volume, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mount %s on %s: %w", v.Source, v.Path, err)
}

func (m *volumeMounts) show(v Volume, tree *os.File) error {
	info, err := tree.Stat()
	if err != nil {
		return err
	}
	target, err := m.point(path.Clean(v.Path), info.IsDir())
	if err != nil {
		return err
	}
	if err := moveTree(tree, target); err != nil {
		return err
	}
	m.shown = append(m.shown, target)
	if v.Private {
		if err := propagate(target, unix.MS_PRIVATE|unix.MS_REC); err != nil {
			return err
		}
	}
	if v.Slave {
		if err := propagate(target, unix.MS_SLAVE|unix.MS_REC); err != nil {
			return err
		}
	}
	if m.noDevices && !v.Device {
		all := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NODEV}
		if err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &all); err != nil {
			return err
		}
	}
	if v.ReadOnly {
		return unix.MountSetattr(unix.AT_FDCWD, target, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	return nil
}

// openBelow opens a path below a directory. It resolves symlinks as if the directory were the root,
// regardless of the calling thread's root. The result can only be described or mounted elsewhere.
func openBelow(dir *os.File, name string) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	fd, err := unix.Openat2(int(dir.Fd()), name, &how)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// showTree shows an open directory or file, with the mounts below it, at target.
func showTree(open *os.File, target string) error {
	tree, err := treeCopy(open)
	if err != nil {
		return mountError(target, err)
	}
	defer tree.Close()
	return moveTree(tree, target)
}

// treeCopy returns a detached copy of an open directory or file, with the mounts below it.
func treeCopy(open *os.File) (*os.File, error) {
	fd, err := unix.OpenTree(int(open.Fd()), "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), open.Name()), nil
}

func moveTree(tree *os.File, target string) error {
	return mountError(target, unix.MoveMount(int(tree.Fd()), "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH))
}

// point returns the mount point of a volume, without symlinks on the way. It creates a missing one.
func (m *volumeMounts) point(target string, isDir bool) (string, error) {
	above, missing := target, ""
	for {
		real, err := filepath.EvalSymlinks(above)
		if err == nil {
			above = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		missing = path.Join(path.Base(above), missing)
		above = path.Dir(above)
	}
	target = path.Join(above, missing)
	if missing == "" {
		return target, nil
	}
	if own, err := m.isOwn(above); err != nil {
		return "", err
	} else if !own {
		if err := m.reopen(above, ""); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(path.Dir(target), 0o755); err != nil {
		return "", err
	}
	return target, makePoint(target, isDir)
}

// isOwn reports whether mount points may be created in a directory: the directory is in a volume or
// in the kubelet's directory, or was created for this thread.
func (m *volumeMounts) isOwn(dir string) (bool, error) {
	for _, own := range append([]string{m.layout.real()}, m.shown...) {
		if _, below := cutDir(dir, own); below {
			return true, nil
		}
	}
	var stat unix.Stat_t
	err := unix.Stat(dir, &stat)
	return m.own[stat.Dev], err
}

// reopen replaces a directory, only for the calling thread, with a file system in memory that shows
// the directory's entries, except one.
func (m *volumeMounts) reopen(dir, except string) error {
	before, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer before.Close()
	if err := m.mountMemory(dir); err != nil {
		return err
	}
	return showAll(before, dir, except)
}

// rootPlace is a directory that is empty on every machine, except for the program's own mounts.
const rootPlace = "/csi"

// isMissingBelowRoot reports whether the machine's root lacks the first directory of a volume's
// path.
func isMissingBelowRoot(v Volume) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(v.Path), "/"), "/")
	_, err := os.Lstat("/" + name)
	return errors.Is(err, fs.ErrNotExist)
}

// reopenRoot is reopen for the root. Nothing can be mounted over the root, so the thread gets
// another root. It must run before all volumes are shown.
func (m *volumeMounts) reopenRoot() error {
	if err := m.mountMemory(rootPlace); err != nil {
		return err
	}
	if err := os.Mkdir(rootPlace+rootPlace, 0o755); err != nil {
		return err
	}
	if err := showAll(m.node, rootPlace, path.Base(rootPlace)); err != nil {
		return err
	}
	return errors.Join(unix.Chdir(rootPlace), unix.Chroot("."))
}

func (m *volumeMounts) mountMemory(dir string) error {
	if err := mountError(dir, unix.Mount("csisim", dir, "tmpfs", 0, "mode=755")); err != nil {
		return err
	}
	var stat unix.Stat_t
	err := unix.Stat(dir, &stat)
	m.own[stat.Dev] = true
	return err
}

// showAll shows the entries of an open directory, except one, in another directory.
func showAll(from *os.File, to, except string) error {
	entries, err := from.ReadDir(-1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == except {
			continue
		}
		if err := showEntry(from, e, path.Join(to, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // unless it vanished meanwhile
		}
	}
	return nil
}

// showEntry shows one entry of an open directory.
func showEntry(from *os.File, e fs.DirEntry, target string) error {
	if e.Type()&fs.ModeSymlink != 0 {
		var to [unix.PathMax]byte
		n, err := unix.Readlinkat(int(from.Fd()), e.Name(), to[:])
		if err != nil {
			return &fs.PathError{Op: "readlink", Path: e.Name(), Err: err}
		}
		return os.Symlink(string(to[:n]), target)
	}
	entry, err := openBelow(from, e.Name())
	if err != nil {
		return err
	}
	defer entry.Close()
	if err := makePoint(target, e.IsDir()); err != nil {
		return err
	}
	return showTree(entry, target)
}

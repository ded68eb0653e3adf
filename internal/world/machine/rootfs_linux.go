package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// The directories in which a root is built. They are on a file system in memory that is mounted at
// rootPlace only for the program.
const (
	imageDir = rootPlace + "/image"
	upperDir = rootPlace + "/upper"
	layerDir = rootPlace + "/work"
	builtDir = rootPlace + "/root"
)

// copyOf returns a copy of a directory of the host that can be mounted in another mount namespace.
func copyOf(dir string) (tree *os.File, err error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil, &fs.PathError{Op: "show", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// enter gives the calling thread the root with volumes in it. The thread's mount namespace is a
// copy of its machine's.
func (r *Root) enter(image *os.File, volumes []Volume, l Layout, oneUser bool) error {
	node, err := os.Open("/")
	if err != nil {
		return err
	}
	defer node.Close()
	m := &volumeMounts{node: node, layout: l, own: map[uint64]bool{}, noDevices: !r.Privileged}
	volumes = sortedByDepth(volumes)
	trees := make([]*os.File, len(volumes))
	for i, v := range volumes {
		if trees[i], err = m.treeOf(v); err != nil {
			return err
		}
		defer trees[i].Close()
	}
	if err := r.build(image, oneUser); err != nil {
		return err
	}
	if err := leave(node); err != nil {
		return err
	}
	if err := m.makeIn(r.ownDirs()...); err != nil {
		return err
	}
	if err := m.writeAll(r.Files); err != nil {
		return err
	}
	for i, v := range volumes {
		err := m.show(v, trees[i])
		if v.Optional && errors.Is(err, unix.EROFS) {
			continue
		}
		if err := volumeError(v, err); err != nil {
			return err
		}
	}
	if r.ReadOnly {
		return mountError("/", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
	}
	return nil
}

// leave makes the built root the root of the calling thread. From then on, no path leads to the
// machine's files, not even through a symlink of the image, or through /.. in a symlink.
func leave(node *os.File) error {
	if err := unix.Chdir(builtDir); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the machine's root now lies over the new one
		return &fs.PathError{Op: "pivot_root", Path: builtDir, Err: err}
	}
	if err := unix.Fchdir(int(node.Fd())); err != nil {
		return err
	}
	// The machine keeps its mounts.
	if err := propagate(".", unix.MS_SLAVE|unix.MS_REC); err != nil {
		return err
	}
	if err := mountError("/", unix.Unmount(".", unix.MNT_DETACH)); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// build creates the root from the image, and adds the other directories of a container.
func (r *Root) build(image *os.File, oneUser bool) error {
	if err := mountError(rootPlace, unix.Mount("csisim", rootPlace, "tmpfs", 0, memoryOptions)); err != nil {
		return err
	}
	for _, dir := range []string{imageDir, upperDir, layerDir, builtDir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := mountError(imageDir, unix.MoveMount(int(image.Fd()), "", unix.AT_FDCWD, imageDir, unix.MOVE_MOUNT_F_EMPTY_PATH)); err != nil {
		return err
	}
	options := "lowerdir=" + imageDir + ",upperdir=" + upperDir + ",workdir=" + layerDir + ",xino=off"
	if oneUser {
		options += ",userxattr"
	}
	if err := mountError("/", unix.Mount("csisim", builtDir, "overlay", r.mountFlags(), options)); err != nil {
		return fmt.Errorf("put a layer over %s: %w", image.Name(), err)
	}
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if err := makeDir(builtDir + dir); err != nil {
			return err
		}
	}
	return r.showKernel()
}

// mountFlags returns the flags of the program's own file systems. If an unprivileged program
// creates device nodes there, they cannot be opened.
func (r *Root) mountFlags() uintptr {
	if r.Privileged {
		return 0
	}
	return unix.MS_NODEV
}

// makeDir makes a directory. It replaces any other file of the image at that path, because a
// symlink would lead to the machine's own directory.
func makeDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		err = os.Remove(dir)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	return os.Mkdir(dir, 0o755)
}

// writeAll writes files at paths that are resolved, with the image's symlinks, in the thread's
// root.
func (m *volumeMounts) writeAll(files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		dir, err := m.dirInRoot(path.Dir(name))
		if err != nil {
			return err
		}
		if err := writeNew(path.Join(dir, path.Base(name)), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// dirInRoot returns a directory for the thread only, without symlinks on its path. It replaces a
// dangling symlink.
func (m *volumeMounts) dirInRoot(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		info, err := os.Lstat(real)
		if err != nil {
			return "", err
		}
		if own, err := m.isOwn(real); err != nil || own && info.IsDir() {
			return real, err
		}
	}
	above, err := m.dirInRoot(path.Dir(dir))
	if err != nil {
		return "", err
	}
	dir = path.Join(above, path.Base(dir))
	return dir, makeDir(dir)
}

// writeNew replaces a file, which in an image may be a symlink to anywhere.
func writeNew(name, content string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o644)
}

// devices are the devices of every container.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx"}

// showKernel shows the machine's processes, its /sys and its devices.
func (r *Root) showKernel() error {
	for _, dir := range []string{"/proc", "/sys"} {
		if err := bindTree(dir, builtDir+dir); err != nil {
			return err
		}
	}
	dev := builtDir + "/dev"
	if r.Privileged {
		return bindTree("/dev", dev)
	}
	if err := mountError("/dev", unix.Mount("csisim", dev, "tmpfs", unix.MS_NOSUID|r.mountFlags(), memoryOptions)); err != nil {
		return err
	}
	for _, name := range devices {
		if err := showDevice("/dev/"+name, path.Join(dev, name), false); err != nil {
			return err
		}
	}
	if err := showDevice("/dev/pts", dev+"/pts", true); err != nil {
		return err
	}
	if err := os.Mkdir(dev+"/shm", 0o1777); err != nil {
		return err
	}
	if err := os.Chmod(dev+"/shm", 0o777|fs.ModeSticky); err != nil {
		return err
	}
	for name, to := range map[string]string{"fd": "", "stdin": "/0", "stdout": "/1", "stderr": "/2"} {
		if err := os.Symlink("/proc/self/fd"+to, path.Join(dev, name)); err != nil {
			return err
		}
	}
	return nil
}

// showDevice shows one of the machine's devices, if it exists.
func showDevice(name, target string, isDir bool) error {
	if _, err := os.Stat(name); err != nil {
		return nil
	}
	if err := makePoint(target, isDir); err != nil {
		return err
	}
	return bindTree(name, target)
}

// ownDirs returns the directories on the program's own file systems.
func (r *Root) ownDirs() []string {
	if r.Privileged {
		return []string{"/"}
	}
	return []string{"/", "/dev"}
}

// makeIn permits the creation of mount points for volumes in the file systems of some directories.
func (m *volumeMounts) makeIn(dirs ...string) error {
	for _, dir := range dirs {
		var stat unix.Stat_t
		if err := unix.Stat(dir, &stat); err != nil {
			return &fs.PathError{Op: "stat", Path: dir, Err: err}
		}
		m.own[stat.Dev] = true
	}
	return nil
}

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// ownRoot is the root directory of a machine in a mount namespace: a file system
// in memory into which the host's content is bound. What lies directly in one of the
// opened directories and is not there yet is the machine's own when it is made;
// places, the kubelet's directory among them, are so from the start, whatever the
// host has there.
type ownRoot struct {
	dir     string         // on the host, where the root is built
	kubelet string         // directory of the host that is the kubelet's; empty if that is in memory
	memory  []uint64       // numbers of the file systems in memory
	thread  int            // id of the thread that has the root
	base    map[int]string // the mounts of an empty machine: their points by their ids
}

// opened are the directories whose entries are bound one by one, so that new
// entries do not reach the host.
var opened = []string{"/", "/run", "/var", "/var/lib"}

// places are where drivers and kubelets of a real node keep their sockets and
// their state.
var places = []string{
	KubeletDir, "/csi", "/csi-data-dir", "/registration", "/run/csi", "/var/lib/csi", "/var/lib/csi-*",
}

// build mounts and fills the root. It is unbindable meanwhile: one of the
// directories that are bound has it in it.
func (r *ownRoot) build() error {
	if err := r.mountMemory(r.dir); err != nil {
		return err
	}
	if err := propagate(r.dir, unix.MS_UNBINDABLE); err != nil {
		return err
	}
	if err := r.open("/"); err != nil {
		return err
	}
	for _, dir := range []string{KubeletDir, "/csi", "/run/csi"} {
		if err := os.MkdirAll(r.dir+dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink(KubeletDir+"/plugins_registry", r.dir+"/registration"); err != nil {
		return err
	}
	if err := propagate(r.dir, unix.MS_PRIVATE); err != nil {
		return err
	}
	if r.kubelet != "" {
		return bindTree(r.kubelet, r.dir+KubeletDir)
	}
	return r.mountMemory(r.dir + KubeletDir)
}

// memoryOptions bound what a driver that writes for ever takes of the host's memory.
const memoryOptions = "mode=755,size=10%"

// mountMemory mounts an empty file system in memory.
func (r *ownRoot) mountMemory(target string) error {
	if err := mountError(target, unix.Mount("csisim", target, "tmpfs", 0, memoryOptions)); err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Stat(target, &stat); err != nil {
		return &fs.PathError{Op: "stat", Path: target, Err: err}
	}
	r.memory = append(r.memory, stat.Dev)
	return nil
}

// open binds the entries of one of the host's directories.
func (r *ownRoot) open(dir string) error {
	if err := os.MkdirAll(r.dir+dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case isPlace(name):
		case slices.Contains(opened, name):
			err = r.open(name)
		default:
			err = show(name, r.dir+name, e.Type())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it vanished meanwhile
			return err
		}
	}
	return nil
}

func isPlace(name string) bool {
	return slices.ContainsFunc(places, func(pattern string) bool {
		fits, err := path.Match(pattern, name)
		return fits && err == nil
	})
}

// show makes an entry that is the host's at target.
func show(name, target string, kind fs.FileMode) error {
	if kind&fs.ModeSymlink != 0 {
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(to, target)
	}
	if err := makePoint(target, kind.IsDir()); err != nil {
		return err
	}
	return bindTree(name, target)
}

// makePoint makes something to mount on.
func makePoint(target string, isDir bool) error {
	if isDir {
		return os.Mkdir(target, 0o755)
	}
	return os.WriteFile(target, nil, 0o644)
}

// pivot makes the directory the root of the calling thread.
func (r *ownRoot) pivot() error {
	if err := unix.Chdir(r.dir); err != nil {
		return err
	}
	err := unix.PivotRoot(".", ".")
	switch {
	case err == nil: // the old root lies on the new one now
		err = unix.Unmount(".", unix.MNT_DETACH)
	case errors.Is(err, unix.EINVAL): // csisim's own root is no mount point
		err = unix.Chroot(".")
	}
	if err != nil {
		return err
	}
	return unix.Chdir("/")
}

// join gives the calling OS thread a copy of the namespace, with volumes.
func (r *ownRoot) join(volumes []Volume) error {
	namespace, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/mnt", r.thread))
	if err != nil {
		return err
	}
	defer namespace.Close()
	root, err := os.Open(r.outside())
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter the mount namespace: %w", err)
	}
	if err := unix.Fchdir(int(root.Fd())); err != nil {
		return err
	}
	if err := unix.Chroot("."); err != nil { // where pivot did
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("copy the mount namespace: %w", err)
	}
	return mountVolumes(volumes)
}

// outside is the root directory as other threads and processes find it.
func (r *ownRoot) outside() string {
	return fmt.Sprintf("/proc/%d/task/%d/root", os.Getpid(), r.thread)
}

// rootOf is the node path of what a mount shows: it lies below the base mount that
// shows the most particular part of the same file system.
func rootOf(entry *mountinfo.Info, table []*mountinfo.Info, base map[int]string) string {
	found, longest := entry.Root, -1
	for _, other := range table {
		if base[other.ID] == "" || other.Major != entry.Major || other.Minor != entry.Minor || len(other.Root) <= longest {
			continue
		}
		if below, ok := cutDir(entry.Root, strings.TrimSuffix(other.Root, "/")); ok {
			found, longest = path.Join(other.Mountpoint, below), len(other.Root)
		}
	}
	return found
}

// bindTree shows source, with the mounts below it, at target.
func bindTree(source, target string) error {
	return mountError(target, unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""))
}

func propagate(target string, kind uintptr) error {
	return mountError(target, unix.Mount("", target, "", kind, ""))
}

func mountError(target string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "mount", Path: target, Err: err}
}

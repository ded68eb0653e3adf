package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// layers protect the host's directories. Programs write to a file system in memory on top of the
// host's content. A directory is read-only if the kernel does not support overlayfs for it.
type layers struct {
	layout  Layout
	built   string // mount to build the root in
	root    string // where the root is built
	scratch string // parent of the upper directories while the root is built
	host    []*mountinfo.Info
	through []string // directories of the host that programs may write to
	// Directories of through that are in none of the mounts in host.
	hidden []string
	// Paths in a container's root that show the machine's own paths.
	carried []string
	oneUser bool // csisim runs as an ordinary user
	// The directories that have a layer, in the order of their numbers.
	covered      []string
	upper        *os.File // the upper directories, by their numbers
	hiddenPlaces []string // places that the host has, too
	// The places of a container. Their mounts end with its program.
	hiders []*os.File
	// The machine's own directories that contain the host's entries.
	opened []string
	// Those entries. The host may remove them later.
	shown map[string]bool
	top   *os.File // the root
	// The types of the file systems of files in layers.
	numbers []uint64
	first   atomic.Pointer[firstProcess] // nil if csisim may not create process namespaces
	apart   error                        // why not
}

// layerType is the file system of layers.
var layerType = "overlay"

// kernels are file systems that show the kernel; they have no layer.
var kernels = []string{
	"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs", "fusectl",
	"hugetlbfs", "mqueue", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs", "sysfs", "tracefs",
}

// kept are directories with write access for an ordinary user's driver. The layers contain them
// from the start, since the host's directories belong to another user.
var kept = []string{"/var/lib", "/var/tmp"}

// cover shows one of the host's directories, with the mounts below it.
func (l *layers) cover(dir string) error {
	err := l.overlay(dir)
	below := l.mountsBelow(dir)
	switch {
	case err == nil:
		return l.coverMounts(below)
	case slices.Contains(opened, dir), len(below) > 0 && !l.isKernel(dir):
		// In a user namespace, a directory with mounts below it can have no layer.
		if err := l.open(dir); !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return l.view(dir)
}

// overlay puts a layer on top of a directory, but not on the mounts below it.
func (l *layers) overlay(dir string) error {
	if l.oneUser && len(l.mountsBelow(dir)) > 0 {
		return unix.EINVAL // the error of overlayfs: files below the mounts must stay hidden
	}
	var host unix.Stat_t
	if err := unix.Stat(dir, &host); err != nil {
		return err
	}
	own := fmt.Sprintf("%s/%d", l.scratch, len(l.covered))
	upper, work, target := own+"/upper", own+"/work", l.root+dir
	for _, dir := range []string{own, upper, work, target} {
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := imitate(upper, host); err != nil {
		return err
	}
	if err := l.lead(dir, upper); err != nil {
		return err
	}
	options := "lowerdir=" + escaped(dir) + ",upperdir=" + escaped(upper) + ",workdir=" + escaped(work) + ",xino=off"
	if l.oneUser {
		options += ",userxattr"
		if err := l.keep(dir, upper); err != nil {
			return err
		}
	}
	if err := mountError(target, unix.Mount("csisim", target, layerType, 0, options)); err != nil {
		return errors.Join(err, os.RemoveAll(own))
	}
	l.covered = append(l.covered, dir)
	return l.number(target)
}

// keep creates the directories that a layer contains from the start.
func (l *layers) keep(dir, upper string) error {
	for _, name := range kept {
		below, is := cutDir(name, dir)
		info, err := os.Stat(name)
		if !is || below == "" || err != nil {
			continue
		}
		if err := os.Mkdir(upper+below, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(upper+below, info.Mode()); err != nil {
			return err
		}
	}
	return nil
}

// lead creates the directories of a layer on the way to a directory in through, if the layer does
// not show the host's directories.
func (l *layers) lead(dir, upper string) error {
	for _, through := range l.hidden {
		below, is := cutDir(through, strings.TrimSuffix(dir, "/"))
		if !is {
			continue
		}
		at := ""
		for name := range strings.SplitSeq(strings.TrimPrefix(below, "/"), "/") {
			at += "/" + name
			var host unix.Stat_t
			if err := unix.Stat(strings.TrimSuffix(dir, "/")+at, &host); err != nil {
				return &fs.PathError{Op: "stat", Path: dir + at, Err: err}
			}
			if err := os.Mkdir(upper+at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			if err := imitate(upper+at, host); err != nil {
				return err
			}
		}
	}
	return nil
}

// imitate gives a directory the owner and the mode of a host directory.
func imitate(dir string, host unix.Stat_t) error {
	_ = os.Chown(dir, int(host.Uid), int(host.Gid)) // in a user namespace, its user owns all files
	return os.Chmod(dir, fs.FileMode(host.Mode&0o777)|sticky(host.Mode))
}

// number finds the file system numbers of a layer's files. The directories of the layer have
// another number.
func (l *layers) number(target string) error {
	var stat unix.Stat_t
	probe := target + "/.csisim-probe"
	if err := unix.Mknod(probe, unix.S_IFREG|0o600, 0); err != nil {
		return &fs.PathError{Op: "make", Path: probe, Err: err}
	}
	if err := errors.Join(unix.Stat(probe, &stat), unix.Unlink(probe)); err != nil {
		return err
	}
	l.numbers = append(l.numbers, stat.Dev)
	return nil
}

func sticky(mode uint32) fs.FileMode {
	if mode&unix.S_ISVTX != 0 {
		return fs.ModeSticky
	}
	return 0
}

// escaped escapes a path for the options of overlayfs.
func escaped(p string) string { return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(p) }

// view shows a directory or a file, with the mounts below it, read-only.
func (l *layers) view(name string) error {
	if err := l.bind(name); err != nil {
		return err
	}
	if name == "/dev" {
		if err := mask(l.root + "/dev/kmsg"); err != nil { // the host's log
			return err
		}
	}
	return readOnly(l.root + name)
}

// readOnly makes the mount at target, and the mounts below it, read-only.
func readOnly(target string) error {
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	return mountError(target, err)
}

// open creates one of the machine's own directories and shows the host's entries in it
// individually.
func (l *layers) open(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.root+dir, 0o755); err != nil {
		return err
	}
	l.opened = append(l.opened, dir)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if l.layout.isPlace(name) || slices.Contains(l.carried, name) {
			continue
		}
		err := l.show(name, e.Type())
		l.shown[name] = err == nil
		// The entry may have vanished, or this user may not see it.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// show makes one of the host's entries.
func (l *layers) show(name string, kind fs.FileMode) error {
	switch {
	case kind&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		return os.Symlink(to, l.root+name)
	case kind.IsDir() && !l.isKernel(name):
		return l.cover(name)
	}
	return l.showAll(name)
}

// showAll shows a directory that cannot have a layer.
func (l *layers) showAll(name string) error {
	switch {
	case slices.Contains(l.through, name):
		return l.bind(name)
	case name == "/proc":
		return l.showProcesses()
	}
	return l.view(name)
}

// showProcesses shows /proc. It is writable, except for files that are not about processes. If the
// machine cannot have a process namespace, its processes are csisim's.
func (l *layers) showProcesses() error {
	proc := l.root + "/proc"
	if _, err := os.Lstat(proc); err != nil {
		if err := makePoint(proc, true); err != nil {
			return err
		}
	}
	first, err := startFirst(l.root, "/proc")
	if l.apart = err; err != nil {
		if err := l.bind("/proc"); err != nil {
			return err
		}
	}
	l.first.Store(first)
	return maskKernel(l.root)
}

// coverMounts covers mounts of the host, the upper ones first.
func (l *layers) coverMounts(mounts []*mountinfo.Info) error {
	shown := slices.Clone(l.carried) // with all mounts below them
	for _, m := range mounts {
		if slices.ContainsFunc(shown, func(dir string) bool { _, is := cutDir(m.Mountpoint, dir); return is }) {
			continue
		}
		info, err := os.Stat(m.Mountpoint)
		if err != nil {
			continue // another mount covers it, or this user may not see it
		}
		if info.IsDir() && !l.isKernel(m.Mountpoint) && l.overlay(m.Mountpoint) == nil {
			continue
		}
		shown = append(shown, m.Mountpoint)
		if err := l.showAll(m.Mountpoint); err != nil {
			return err
		}
	}
	return nil
}

// mountsBelow returns the host's mounts in a directory, except for those in the machine's places.
func (l *layers) mountsBelow(dir string) (below []*mountinfo.Info) {
	for _, m := range l.host {
		if rest, is := cutDir(m.Mountpoint, strings.TrimSuffix(dir, "/")); is && rest != "" && rest != "/" && !l.layout.inPlace(m.Mountpoint) {
			below = append(below, m)
		}
	}
	slices.SortStableFunc(below, func(a, b *mountinfo.Info) int { return strings.Compare(a.Mountpoint, b.Mountpoint) })
	return slices.CompactFunc(below, func(a, b *mountinfo.Info) bool { return a.Mountpoint == b.Mountpoint })
}

// isKernel reports whether a directory shows the kernel.
func (l *layers) isKernel(dir string) bool {
	kernel := dir == "/dev" || dir == "/proc" || dir == "/sys"
	for _, m := range l.host {
		if m.Mountpoint == dir {
			kernel = kernel || slices.Contains(kernels, m.FSType)
		}
	}
	return kernel
}

// letThrough shows directories of the host directly.
func (l *layers) letThrough() error {
	for _, dir := range l.through {
		if slices.Contains(l.carried, dir) {
			continue
		}
		if _, err := os.Stat(l.root + dir); err != nil {
			continue // it is in one of the machine's places
		}
		if err := l.bind(dir); err != nil {
			return err
		}
	}
	return nil
}

// close ends the machine's processes, and closes the files that Written reads.
func (r *ownRoot) close() (err error) {
	l := r.layers
	if l == nil {
		return nil
	}
	if first := l.first.Swap(nil); first != nil {
		err = first.end()
	}
	if l.upper != nil {
		err = errors.Join(err, l.upper.Close(), l.top.Close())
		l.upper = nil
	}
	for _, held := range r.held {
		err = errors.Join(err, held.Close())
	}
	r.held = nil
	return err
}

// bind shows a directory with the mounts below it, except for those of the root itself.
func (l *layers) bind(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(l.root + name); err != nil {
		if err := makePoint(l.root+name, info.IsDir()); err != nil {
			return err
		}
	}
	if _, around := cutDir(l.built, strings.TrimSuffix(name, "/")); !around {
		return bindTree(name, l.root+name)
	}
	if err := propagate(l.built, unix.MS_UNBINDABLE|unix.MS_REC); err != nil {
		return err
	}
	return errors.Join(bindTree(name, l.root+name), propagate(l.built, unix.MS_PRIVATE|unix.MS_REC))
}

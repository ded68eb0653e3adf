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

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// ownRoot is the root directory of a machine in a mount namespace: the host's content below layers
// that protect it. The places, including the kubelet's directory, are always the machine's own.
type ownRoot struct {
	dir     string // on the host, where the root is built
	layout  Layout
	kubelet string         // host directory of the kubelet; empty if it is in memory
	through []string       // directories of the host that programs may write to
	hidden  []string       // directories of through that are on a file system without layers
	layers  *layers        // they protect all other directories of the host
	memory  []uint64       // numbers of the file systems in memory
	thread  int            // id of the thread that has the root
	oneUser bool           // csisim runs as an ordinary user
	base    map[int]string // the mounts of an empty machine: mount points by id

	furnished []string   // paths of the machine from before its programs
	carried   []string   // paths in a container's root that show the machine's own
	holds     bool       // keep the file systems in memory until the root is closed
	held      []*os.File // open directories in these file systems
	wrote     []string   // of a finished container, in the form of Written
}

// opened are directories that show their entries individually if there is no layer, so that
// programs can add entries.
var opened = []string{"/", "/run", "/var", "/var/lib"}

// build mounts and fills the root.
func (r *ownRoot) build() error {
	if err := r.fill(); err != nil {
		return err
	}
	if r.kubelet != "" {
		return bindTree(r.kubelet, r.root()+r.layout.real())
	}
	return r.mountMemory(r.root() + r.layout.real())
}

// fill mounts the root, with the directories of the places.
func (r *ownRoot) fill() error {
	host, err := mountinfo.GetMounts(nil)
	if err != nil {
		return err
	}
	host, r.hidden = r.withoutRuns(host)
	r.oneUser = namespaces.Rootless() // a thread in the root would not see it
	if err := r.mountMemory(r.dir); err != nil {
		return err
	}
	if err := os.Mkdir(r.root(), 0o755); err != nil {
		return err
	}
	if err := bindTree(r.root(), r.root()); err != nil {
		return err
	}
	if err := r.cover(host); err != nil {
		return err
	}
	for _, dir := range []string{r.layout.real(), "/csi", "/run/csi"} {
		if err := os.MkdirAll(r.root()+dir, 0o755); err != nil {
			return err
		}
	}
	if err := r.makeSymlink(); err != nil {
		return err
	}
	if err := os.Symlink(r.layout.real()+"/plugins_registry", r.root()+"/registration"); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// makeSymlink makes the symlink of the layout.
func (r *ownRoot) makeSymlink() error {
	link := r.layout.symlink()
	if link == "" {
		return nil
	}
	at := r.root() + link
	if err := os.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	if info, err := os.Lstat(at); err == nil && info.IsDir() {
		if err := os.Remove(at); err != nil { // from the layer, not from the host
			return fmt.Errorf("make the symlink %s to the kubelet's directory: the host has a directory there: %w", link, err)
		}
	}
	return os.Symlink(r.layout.real(), at)
}

// withoutRuns leaves out csisim's file system in memory with the directories of runs. Nodes see
// only the directories in through, and the layers do not show the others.
func (r *ownRoot) withoutRuns(host []*mountinfo.Info) (others []*mountinfo.Info, hidden []string) {
	for _, m := range host {
		within := slices.DeleteFunc(slices.Clone(r.through), func(dir string) bool { _, is := cutDir(dir, m.Mountpoint); return !is })
		if m.FSType == "tmpfs" && m.Source == "csisim" && len(within) > 0 {
			hidden = within
		} else {
			others = append(others, m)
		}
	}
	return others, hidden
}

// root returns the directory in which the root is built. The layers' upper directories are beside
// it, so that programs cannot see them.
func (r *ownRoot) root() string { return r.dir + "/root" }

// cover shows the host's content below layers.
func (r *ownRoot) cover(host []*mountinfo.Info) (err error) {
	scratch := r.dir + "/layers"
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return err
	}
	r.layers = &layers{layout: r.layout, built: r.dir, root: r.root(), scratch: scratch, host: host, through: r.through, hidden: r.hidden, carried: r.carried, oneUser: r.oneUser, shown: map[string]bool{}}
	err = r.layers.cover("/")
	if err != nil {
		return err
	}
	if err := r.hidePlaces(); err != nil {
		return err
	}
	if err := r.layers.letThrough(); err != nil {
		return err
	}
	r.memory = append(r.memory, r.layers.numbers...)
	if r.layers.upper, err = os.Open(scratch); err != nil {
		return err
	}
	r.layers.top, err = os.Open(r.root())
	return err
}

// hidePlaces puts empty directories over the places of the host.
func (r *ownRoot) hidePlaces() error {
	for _, pattern := range r.layout.places() {
		found, err := filepath.Glob(r.root() + pattern)
		if err != nil {
			return err
		}
		for _, place := range found {
			if info, err := os.Lstat(place); err != nil || !info.IsDir() || place == r.root()+r.layout.symlink() {
				continue
			}
			if err := r.mountMemory(place); err != nil {
				return err
			}
			r.layers.hiddenPlaces = append(r.layers.hiddenPlaces, strings.TrimPrefix(place, r.root()))
			if r.holds {
				r.layers.hiders = append(r.layers.hiders, r.held[len(r.held)-1])
			}
		}
	}
	return nil
}

// memoryOptions limit how much of the host's memory a driver can fill.
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
	if r.holds { // otherwise its number would be reused after the container's end
		held, err := os.Open(target)
		if err != nil {
			return err
		}
		r.held = append(r.held, held)
	}
	return nil
}

// makePoint makes a mount point.
func makePoint(target string, isDir bool) error {
	if isDir {
		return os.Mkdir(target, 0o755)
	}
	return os.WriteFile(target, nil, 0o644)
}

// pivot makes the directory the root of the calling thread.
func (r *ownRoot) pivot() error {
	if err := unix.Chdir(r.root()); err != nil {
		return err
	}
	err := unix.PivotRoot(".", ".")
	switch {
	case err == nil: // the old root is now on top of the new one
		err = unix.Unmount(".", unix.MNT_DETACH)
	case errors.Is(err, unix.EINVAL): // csisim's own root is the kernel's initial root, which stays
		err = r.coverNamespace()
	}
	if err != nil {
		return err
	}
	return unix.Chdir("/")
}

// coverNamespace moves the directory over the root of the whole namespace, so that a process that
// enters the namespace is not only in a chroot.
func (r *ownRoot) coverNamespace() error {
	if err := mountError("/", unix.Mount(".", "/", "", unix.MS_MOVE, "")); err != nil {
		return err
	}
	return unix.Chroot(".")
}

// join gives the calling OS thread a copy of the namespace, with a command's volumes and, if it has
// one, its own root. The thread of an administrator gets the namespace itself.
func (r *ownRoot) join(c Command) (err error) {
	var image *os.File
	if c.Root != nil {
		if image, err = copyOf(c.Root.Dir); err != nil {
			return err
		}
		defer image.Close()
	}
	if err := r.nameHost(c.Hostname); err != nil {
		return err
	}
	if err := r.enterIPC(c.IPC); err != nil {
		return err
	}
	if c.Network != nil {
		if err := c.Network.enter(); err != nil {
			return err
		}
	}
	namespace, err := r.namespace("mnt")
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
	if err := unix.Chroot("."); err != nil {
		return err
	}
	if !c.Administrator {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("copy the mount namespace: %w", err)
		}
	}
	if first := r.layers.first.Load(); first != nil {
		if err := first.adopt(); err != nil {
			return err
		}
	}
	if c.Root != nil {
		return c.Root.enter(image, c.Volumes, r.layout, r.oneUser)
	}
	return mountVolumes(c.Volumes, r.layout, c.OwnKubeletDir)
}

// namespace opens the file of one of the machine's namespaces.
func (r *ownRoot) namespace(kind string) (*os.File, error) {
	return os.Open(fmt.Sprintf("/proc/self/task/%d/ns/%s", r.thread, kind))
}

// nameHost gives the calling OS thread a host name, the machine's by default.
func (r *ownRoot) nameHost(name string) error {
	if name != "" {
		return takeHostname(name)
	}
	of, err := r.namespace("uts")
	if err != nil {
		return err
	}
	defer of.Close()
	return joinHostname(of)
}

// outside returns the root directory in the view of other threads and processes.
func (r *ownRoot) outside() string {
	return fmt.Sprintf("/proc/%d/task/%d/root", os.Getpid(), r.thread)
}

// lstat describes a node path from any thread, regardless of the thread's root. It fails for files
// that only the machine's own thread can find, such as those behind a link of /proc. Meanwhile it
// keeps the described file busy.
func (r *ownRoot) lstat(p string) (info fs.FileInfo, err error) {
	top, err := r.layers.top.SyscallConn() // it may be closed meanwhile
	if err != nil {
		return nil, err
	}
	closed := top.Control(func(top uintptr) {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
		var fd int
		if fd, err = unix.Openat2(int(top), p, &how); err != nil {
			return
		}
		file := os.NewFile(uintptr(fd), p)
		defer file.Close()
		info, err = file.Stat()
	})
	return info, errors.Join(closed, err)
}

// rootOf returns the node path of the directory or file that a mount shows. It is below the base
// mount with the longest matching part of the same file system.
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

package machine

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// place is a path of a program.
type place struct {
	dir  int // csisim's descriptor of the directory where the path starts; negative if unknown
	path string
	root bool // dir is the program's root: symlinks in the path do not lead out of it
}

// placeOf returns the place that an argument of a waiting call names, relative to a directory of
// the program.
func (n *notification) placeOf(from int, path uint64) place {
	p := place{dir: -1, path: stringOf(int(n.pid), uintptr(path))}
	dir := fmt.Sprintf("/proc/%d/fd/%d", n.pid, from)
	switch {
	case strings.HasPrefix(p.path, "/"):
		dir, p.root = fmt.Sprintf("/proc/%d/root", n.pid), true
	case from == unix.AT_FDCWD:
		dir = fmt.Sprintf("/proc/%d/cwd", n.pid)
	}
	if fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		p.dir = fd
	}
	return p
}

func (p place) open(flags, mode uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC}
	if flags&unix.O_CREAT != 0 {
		how.Mode = mode & 0o7777
	}
	if p.root {
		how.Resolve = unix.RESOLVE_IN_ROOT
	}
	return unix.Openat2(p.dir, p.path, &how)
}

// holdSpot opens the file at a spot of a waiting call, without reading or writing it.
func (n *notification) holdSpot(s spot) (int, error) {
	if s.path == 0 {
		return unix.Open(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[s.dir-1])), unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	from := unix.AT_FDCWD
	if s.dir > 0 {
		from = int(int32(n.args[s.dir-1]))
	}
	place := n.placeOf(from, n.args[s.path-1])
	defer place.close()
	return place.open(unix.O_PATH, 0)
}

// look describes the file at the place, and reports whether a mount covers it. It returns nil if
// there is none.
func (p place) look() *unix.Statx_t {
	fd, err := p.open(unix.O_PATH, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var there unix.Statx_t
	if unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_TYPE, &there) != nil {
		return nil
	}
	return &there
}

func (p place) close() {
	if p.dir >= 0 {
		_ = unix.Close(p.dir)
	}
}

// unmounts reports whether a waiting call is about to unmount a mount point, lazily or not. A mount
// in use can only be unmounted lazily.
func (n *notification) unmounts(lazily bool) bool {
	if n.number != unix.SYS_UMOUNT2 || (n.args[1]&unix.MNT_DETACH != 0) != lazily {
		return false
	}
	target := n.placeOf(unix.AT_FDCWD, n.args[0])
	defer target.close()
	there := target.look()
	return there != nil && there.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// openedFile is a file that a program is about to create or truncate.
type openedFile struct {
	place
	flags, mode uint64
	looked      bool
	there       *unix.Statx_t // nil if the first look found no file
}

// look describes the file when it was first found. It cannot have changed since, because the call
// waits.
func (f *openedFile) look() *unix.Statx_t {
	if !f.looked {
		f.looked, f.there = true, f.place.look()
	}
	return f.there
}

// fileOf returns the file that a waiting call is about to open; nil if there is none.
func fileOf(n *notification) *openedFile {
	from, path, flags, mode, is := n.openCall()
	if !is {
		return nil
	}
	return &openedFile{place: n.placeOf(from, path), flags: flags, mode: mode}
}

// weight returns the number of changes for which the call counts: none if the file exists and keeps
// its content, two if the file is initially empty and filled later.
func (f *openedFile) weight() int {
	there := f.look()
	switch {
	case there == nil && f.flags&unix.O_CREAT == 0:
		return 0
	case there == nil && f.flags&unix.O_EXCL != 0:
		return 1 // csisim cannot create the file first: the program requires that it is missing
	case there == nil:
		return 2
	case there.Mode&unix.S_IFMT != unix.S_IFREG, f.flags&unix.O_TRUNC == 0, f.flags&unix.O_EXCL != 0:
		return 0
	}
	return 2
}

// isChanged reports whether the call creates or truncates the file, or opens a file or block device
// for writing. Character devices such as /dev/null do not count.
func (f *openedFile) isChanged() bool {
	there := f.look()
	switch {
	case there == nil:
		return f.flags&unix.O_CREAT != 0
	case f.flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return false // it fails
	}
	kind := there.Mode & unix.S_IFMT
	return f.flags&(writes|unix.O_TRUNC) != 0 && (kind == unix.S_IFREG || kind == unix.S_IFBLK)
}

// begin creates or truncates the file in the program's place.
func (f *openedFile) begin() error {
	const kept = unix.O_ACCMODE | unix.O_CREAT | unix.O_TRUNC | unix.O_NOFOLLOW
	fd, err := f.open(f.flags&kept|unix.O_NONBLOCK, f.mode)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

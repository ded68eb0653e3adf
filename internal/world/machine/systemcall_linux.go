package machine

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// spot names the arguments of a system call that identify a file: a directory and a path, or an
// open file. Each is counted from one; 0 means none.
type spot struct {
	dir, path int
	text      bool // the argument is a text that need not name a file
}

func fileAt(dir, path int) spot { return spot{dir: dir + 1, path: path + 1} }
func fileNamed(path int) spot   { return spot{path: path + 1} }
func anyText(path int) spot     { return spot{path: path + 1, text: true} }
func fileOpened(file int) spot  { return spot{dir: file + 1} }
func (s spot) isEmpty() bool    { return s == spot{} }

// change returns the change of a waiting call; empty if the call is unknown.
func (n *notification) change() change {
	i := slices.IndexFunc(changesOfFiles, func(c change) bool { return c.number == uint32(n.number) })
	if i < 0 {
		return change{}
	}
	return changesOfFiles[i]
}

// systemCall describes a waiting call; nil if it changes nothing.
func (n *notification) systemCall() *SystemCall {
	c, begins := n.change(), false
	if c.name == syncAll || c.name == "" {
		return nil
	}
	if c.name == open {
		file := fileOf(n)
		defer file.close()
		if !file.isChanged() {
			return nil
		}
		begins = file.weight() == 2
	}
	if n.number == unix.SYS_UNLINKAT && n.args[2]&unix.AT_REMOVEDIR != 0 {
		c.name = "rmdir"
	}
	return &SystemCall{Name: c.name, Path: n.pathOf(c.of), From: n.pathOf(c.from), Makes: n.makes(c), begins: begins}
}

// makes reports whether a call creates a file or a directory.
func (n *notification) makes(c change) bool {
	switch c.name {
	case open, "mkdir", "mknod", "symlink", "link", "rename":
		fd, err := n.holdSpot(c.of)
		if err == nil {
			_ = unix.Close(fd)
		}
		return errors.Is(err, unix.ENOENT)
	}
	return false
}

// pathOf returns the path at a spot, in the program's view.
func (n *notification) pathOf(s spot) string {
	if s.isEmpty() {
		return ""
	}
	name := ""
	if s.path > 0 {
		name = stringOf(int(n.pid), uintptr(n.args[s.path-1]))
	}
	if path.IsAbs(name) || s.text {
		return name
	}
	from := fmt.Sprintf("/proc/%d/cwd", n.pid)
	if s.dir > 0 && int32(n.args[s.dir-1]) != unix.AT_FDCWD {
		from = fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[s.dir-1]))
	}
	dir, err := os.Readlink(from)
	if err != nil {
		return name
	}
	return path.Join(dir, name)
}

// weight returns the number of changes to files for which a call counts; see openedFile for calls
// that open a file.
func (n *notification) weight() int {
	switch n.number {
	// They create and remove nothing.
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC, unix.SYS_SYNCFS, unix.SYS_MOUNT_SETATTR:
		return 0
	}
	return 1
}

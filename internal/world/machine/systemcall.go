package machine

import (
	"path"
	"strings"
)

// SystemCall is a system call by which a program changes files.
type SystemCall struct {
	// Name is one of SystemCalls.
	Name string
	// Path is what it changes, as the program sees it; From, where that comes from: of a mount
	// its source, of a rename or a link the file.
	Path, From string
	// Failed says that it was not made: the program got an error instead.
	Failed bool
	// Held says that the program stands still at it.
	Held bool

	begins bool // the file is begun by it and filled by a write
}

// Write is the first write to a file that was made, or emptied, for it: see SystemCalls.
const Write = "write"

// SystemCalls are the calls that are seen, in all the forms that they have: rename is
// rename(2), renameat(2) and renameat2(2); mount is mount(2), and move_mount(2) and
// mount_setattr(2) of mount(8); open is to make, to empty or to write to a file or a block device;
// ioctl sets up and ends loop devices. Write comes after open, with a file that is there and empty;
// later ones are not seen.
func SystemCalls() []string {
	return []string{
		"copy_file_range", "fallocate", "fsync", "ioctl", "link", "mkdir", "mknod", "mount", "open", "pwrite", "rename", "rmdir", "symlink",
		"truncate", "umount2", "unlink", Write,
	}
}

// Point is one, or some, of the system calls that a program makes.
type Point struct {
	// Name is which call it is; none: no call at all.
	Name string
	// Path narrows it down: its last elements, or all of it from /; * stands for any letters within
	// an element. Default: any.
	Path string
	// Nth is how many of them it is, from 1; 0 is each.
	Nth int
}

// matches reports whether it is about such a call, whichever it is of them.
func (p Point) matches(c SystemCall) bool {
	return p.Name == c.Name && (p.Path == "" || fitsPath(p.Path, c.Path) || fitsPath(p.Path, c.From))
}

// fitsPath holds as many last elements of a path against a pattern as that has.
func fitsPath(pattern, name string) bool {
	if path.IsAbs(pattern) {
		fits, err := path.Match(pattern, name)
		return fits && err == nil
	}
	elements := strings.Split(name, "/")
	count := strings.Count(pattern, "/") + 1
	if count > len(elements) {
		return false
	}
	fits, err := path.Match(pattern, strings.Join(elements[len(elements)-count:], "/"))
	return fits && err == nil
}

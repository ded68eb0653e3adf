package machine

import (
	"path"
	"strings"
)

// SystemCall is a system call by which a program changes files.
type SystemCall struct {
	// Name is one of SystemCalls.
	Name string
	// Path is the path that the call changes, in the program's view. From is the source of a mount,
	// or the old path of a rename or a link.
	Path, From string
	// Makes means that the call creates a file or a directory at Path.
	Makes bool
	// Failed means that the call was not made: the program received an error instead.
	Failed bool
	// Held means that the program is stopped at the call.
	Held bool

	begins bool // the call creates or truncates a file that a write fills later
}

// Write is the first write to a file after its creation or truncation: see SystemCalls.
const Write = "write"

// SystemCalls lists the observed calls, including their variants: rename is rename(2), renameat(2)
// and renameat2(2); mount is mount(2), and move_mount(2) and mount_setattr(2) of mount(8); open
// creates, truncates or writes to a file or a block device; ioctl sets up and ends loop devices.
// Write follows open, for an existing empty file. Later writes are not observed.
func SystemCalls() []string {
	return []string{
		"copy_file_range", "fallocate", "fsync", "ioctl", "link", "mkdir", "mknod", "mount", "open", "pwrite", "rename", "rmdir", "symlink",
		"truncate", "umount2", "unlink", Write,
	}
}

// Point selects one or several system calls of a program.
type Point struct {
	// Name is the name of the call. An empty name selects no call.
	Name string
	// Path selects calls by path: by its last elements, or by the whole path if it starts with /. *
	// matches any letters within an element. Default: any path.
	Path string
	// Nth selects the n-th match, counted from 1; 0 selects each.
	Nth int
}

// matches reports whether the point selects such a call, ignoring Nth.
func (p Point) matches(c SystemCall) bool {
	return p.Name == c.Name && (p.Path == "" || fitsPath(p.Path, c.Path) || fitsPath(p.Path, c.From))
}

// fitsPath matches a pattern against the last elements of a path.
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

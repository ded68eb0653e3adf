package fault

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// SystemCall selects system calls that a driver's program makes during a call. Only system calls
// that change files count, including the system calls of child processes such as mount(8).
type SystemCall struct {
	// Name is the name of the call without variants: "mount", "rename". Empty: none.
	Name string
	// Path selects calls by their path: its last elements, or the whole path if it begins with /. *
	// matches any letters within an element.
	Path string
	// Nth is the number of the system call in the CSI call, from 1. 0 means each call, or for Kill
	// the first one.
	Nth int
}

func (s SystemCall) String() string {
	text := s.Name
	if s.Nth > 1 {
		text += fmt.Sprintf(" %d", s.Nth)
	}
	if s.Path != "" {
		text += " of " + s.Path
	}
	return text
}

// errnos are the errors of failing system calls, with their numbers on Linux.
var errnos = map[string]syscall.Errno{
	"EPERM": 1, "ENOENT": 2, "EINTR": 4, "EIO": 5, "ENXIO": 6, "EAGAIN": 11, "ENOMEM": 12, "EACCES": 13, "EBUSY": 16, "EEXIST": 17, "EXDEV": 18,
	"ENODEV": 19, "ENOTDIR": 20, "EISDIR": 21, "EINVAL": 22, "ENFILE": 23, "EMFILE": 24, "EFBIG": 27, "ENOSPC": 28, "EROFS": 30, "EMLINK": 31,
	"ENAMETOOLONG": 36, "ENOTEMPTY": 39, "ELOOP": 40, "ENOTCONN": 107, "ETIMEDOUT": 110, "EHOSTUNREACH": 113, "ESTALE": 116, "EDQUOT": 122,
}

// SystemErrors lists the names of the possible errors of system calls.
func SystemErrors() []string { return slices.Sorted(maps.Keys(errnos)) }

// Errno returns the error number of failing system calls; 0 if they do not fail.
func (f *Fault) Errno() syscall.Errno { return errnos[f.Fails] }

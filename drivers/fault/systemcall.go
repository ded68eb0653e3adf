package fault

import (
	"fmt"
	"maps"
	"slices"
	"syscall"
)

// SystemCall is which of the system calls that a driver's program makes in a call a fault is about. Those are
// counted by which programs change files; what the program starts, such as mount(8), counts.
type SystemCall struct {
	// Name is the call, without its forms: "mount", "rename". Empty: the fault is about none.
	Name string
	// Path narrows it down to those about a path: its last elements, or all of it from /; * stands for any
	// letters within an element.
	Path string
	// Nth is how many of them in the CSI call it is, from 1; 0 is each, of Kill the first.
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

// errnos are those with which system calls fail, and their numbers on Linux.
var errnos = map[string]syscall.Errno{
	"EPERM": 1, "ENOENT": 2, "EINTR": 4, "EIO": 5, "ENXIO": 6, "EAGAIN": 11, "ENOMEM": 12, "EACCES": 13, "EBUSY": 16, "EEXIST": 17, "EXDEV": 18,
	"ENODEV": 19, "ENOTDIR": 20, "EISDIR": 21, "EINVAL": 22, "ENFILE": 23, "EMFILE": 24, "EFBIG": 27, "ENOSPC": 28, "EROFS": 30, "EMLINK": 31,
	"ENAMETOOLONG": 36, "ENOTEMPTY": 39, "ELOOP": 40, "ETIMEDOUT": 110, "EHOSTUNREACH": 113, "ESTALE": 116, "EDQUOT": 122,
}

// SystemErrors lists the names of the errors with which system calls can be made to fail.
func SystemErrors() []string { return slices.Sorted(maps.Keys(errnos)) }

// Errno is the number of the error with which system calls fail; 0 if they do not.
func (f *Fault) Errno() syscall.Errno { return errnos[f.Fails] }

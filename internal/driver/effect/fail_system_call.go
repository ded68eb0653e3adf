package effect

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/machine"
)

// failSystemCallFields are the fields of faults that make system calls fail. Faults of HTTP
// requests share some of these fields.
type failSystemCallFields struct {
	Syscall string `json:"syscall,omitempty" example:"umount2" doc:"With fails: the system calls of the driver program and of its child processes that fail during the call. They are mount, umount2, rename, link, symlink, unlink, mkdir, rmdir, mknod, open (to make, empty or write to a file or block device), truncate, fallocate, pwrite, copy_file_range, fsync, ioctl (of loop devices). Each name stands for all forms: renameat2 is rename, fdatasync is fsync."`
	Nth     uint   `json:"nth,omitempty" doc:"With syscall or request: the number of the one in each call that fails, counted from 1; default all."`
	Path    string `json:"path,omitempty" example:"globalmount" doc:"With syscall: only system calls about this path, given by its last elements or in full; * stands for any letters within an element."`
	Fails   string `json:"fails,omitempty" example:"EBUSY" doc:"The error with which the system calls fail, without being executed; or the way in which requests fail: HTTP 500 and other statuses, reset, slow, stale. The field times then limits the number of failures in all calls together."`
}

// failSystemCall: a system call of the driver's program fails without taking effect.
var failSystemCall = &Effect{
	Name:  fault.FailSystemCall,
	Field: "fails",
	Given: func(f *Fields) bool { return f.Fails != "" && f.Request == "" },
	Check: checkSystemCall,
	Read: func(f *Fields, into *fault.Fault) {
		into.Fails, into.System = f.Fails, fault.SystemCall{Name: f.Syscall, Nth: int(f.Nth), Path: f.Path}
	},
	Never:    unseen,
	InWords:  func(f *fault.Fault) string { return fmt.Sprintf("%s of the driver failed, %s", f.System, f.Fails) },
	Disturbs: butAborted, // a failed system call never makes a driver answer that it is busy
	Do:       doFailSystemCall,
}

func doFailSystemCall(c Call, f *fault.Fault) error {
	w := c.WatchCalls("fault "+f.Name, machine.Interference{At: pointOf(f), Fails: f.Errno(), Times: f.Left()})
	if w == nil {
		f.SetHits(0)
		return c.Pass(c.Answer())
	}
	defer func() {
		w.End()
		failed := c.RecordCalls(w, f.Fails)
		f.SetHits(failed)
		if failed > 0 {
			c.Disturbed(f)
		}
	}()
	return c.Pass(c.Answer())
}

// pointOf returns the system call of a fault, in the form that machines use.
func pointOf(f *fault.Fault) machine.Point {
	return machine.Point{Name: f.System.Name, Path: f.System.Path, Nth: f.System.Nth}
}

// checkSystemCall reports unknown system calls, and fields that need a system call.
func checkSystemCall(f *Fields, _ string, c Checker) {
	if f.Request != "" {
		return
	}
	if f.Fails == "" {
		for _, field := range []string{"syscall", "nth", "path"} {
			if c.Has(field) {
				c.Report(field, field+" without fails", "fails: EIO, or another error, beside it")
			}
		}
		return
	}
	c.Known("fails", "error", f.Fails, fault.SystemErrors())
	switch {
	case f.Syscall == "":
		c.Report("fails", "fails without syscall", "syscall: mount, or another one, beside it")
	case f.Syscall == machine.Write:
		c.Report("syscall", "system call \"write\", which csisim does not see", "open, which comes before the first one")
	default:
		c.Known("syscall", "system call", f.Syscall, slices.DeleteFunc(machine.SystemCalls(), func(name string) bool { return name == machine.Write }))
	}
	c.Pattern("path", f.Path)
	if !c.HasPrograms() {
		c.Report("fails", "a system call without a driver program", "a driver that is a program: a mock makes no system calls")
	}
}

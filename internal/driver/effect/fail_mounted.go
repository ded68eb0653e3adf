package effect

import (
	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/machine"
)

// failMountedFields are the fields of faults that make mounted file systems fail.
type failMountedFields struct {
	Mounted string `json:"mounted,omitempty" example:"ESTALE" doc:"While a driver program works on the call, the file systems that are mounted at the call's paths fail with this error until they are unmounted, like file systems of a server that has lost them (ESTALE), of a broken disk (EIO) or of an exited FUSE daemon (ENOTCONN). Each system call about a file there fails; with EROFS only calls that write fail. Unmounting works."`
}

// failMounted: while a driver's program works on the call, file systems that are mounted at the
// call's paths fail. csisim observes no file systems of drivers in this process, or of programs
// that it did not start.
var failMounted = &Effect{
	Name:  fault.FailMounted,
	Field: "mounted",
	Given: func(f *Fields) bool { return f.Mounted != "" },
	Check: func(f *Fields, _ string, c Checker) {
		if f.Mounted != "" && !c.HasPrograms() {
			c.Report("mounted", "a mounted file system without a driver program", "a driver that is a program: a mock mounts nothing")
		}
		c.Known("mounted", "error", f.Mounted, fault.MountErrors())
	},
	Read: func(f *Fields, into *fault.Fault) { into.Fails = f.Mounted },
	InSearches: func(kind fault.Kind, c Called) (all []fault.Fault) {
		if kind != fault.Mounts || !c.OnNode || !c.Watched {
			return nil
		}
		for _, fails := range []string{fault.StaleHandle, fault.Broken, fault.ReadOnly} {
			all = append(all, fault.Fault{Name: "its mounted file system fails with " + fails, Effect: fault.FailMounted, Fails: fails, Times: 1})
		}
		return all
	},
	Never:    unseen,
	InWords:  func(f *fault.Fault) string { return "the mounted file system failed, " + f.Fails },
	Disturbs: always,
	Do:       doFailMounted,
}

func doFailMounted(c Call, f *fault.Fault) error {
	w := c.WatchCalls("fault "+f.Name, machine.Interference{Broken: machine.BrokenMounts{Paths: c.Paths(), Fails: f.Errno()}})
	if w == nil {
		f.SetHits(0)
		return c.Pass(c.Answer())
	}
	defer func() {
		w.End()
		if c.RecordCalls(w, f.Fails) == 0 {
			f.SetHits(0)
			return
		}
		c.Disturbed(f)
	}()
	return c.Pass(c.Answer())
}

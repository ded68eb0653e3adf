package effect

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// inUseFields are the fields of faults by which mounts are in use.
type inUseFields struct {
	InUse bool `json:"inUse,omitempty" doc:"While a driver program works on the call, its mounts are in use: the first attempt to unmount each fails with EBUSY (target is busy), unless the program detaches the mount."`
}

// inUse: the mounts of a driver's program are in use during the call. csisim observes no unmounts
// of drivers in this process, or of programs that it did not start.
var inUse = &Effect{
	Name:  fault.InUse,
	Field: "inUse",
	Given: func(f *Fields) bool { return f.InUse },
	Check: func(f *Fields, _ string, c Checker) {
		if f.InUse && !c.HasPrograms() {
			c.Report("inUse", "mounts in use without a driver program", "a driver that is a program: a mock mounts nothing")
		}
	},
	InSearches: func(kind fault.Kind, c Called) []fault.Fault {
		if kind != fault.Halfway || !c.Watched || !c.Unmounts {
			return nil
		}
		return []fault.Fault{{Name: "what it unmounts is in use", Effect: fault.InUse}}
	},
	Never:    unseen,
	InWords:  words("a mount was in use, the driver could not unmount it"),
	Disturbs: always,
	Do:       doInUse,
}

func doInUse(c Call, f *fault.Fault) error {
	program := c.Program()
	if program == nil {
		return c.Pass(c.Answer())
	}
	end := program.RefuseUnmount()
	if end == nil {
		c.Process().Kernel().Interrupt(fmt.Errorf("fault %s: %w", f.Name, ErrUnseen))
		return ErrCallerExited
	}
	defer func() {
		if refused, _ := end(); refused {
			c.Disturbed(f)
		}
	}()
	err := c.Pass(c.Answer())
	if _, lazily := end(); err == nil && slices.Contains(contract.PathsOf(c.Request()), lazily) {
		c.Note([]verdict.Verdict{contract.UnmountsLazily(c.Method(), lazily)})
	}
	return err
}

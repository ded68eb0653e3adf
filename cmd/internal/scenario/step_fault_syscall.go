package scenario

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/machine"
)

// systemCall is a system call of a driver program before which the driver is killed.
type systemCall struct {
	Syscall string `json:"syscall" want:"required" example:"mount" doc:"Which system call it is, as with fails; or write, the first to a file that was made or emptied for it."`
	Nth     uint   `json:"nth,omitempty" default:"1" doc:"Which one of the call, from 1."`
	Path    string `json:"path,omitempty" example:"globalmount" doc:"Only those about this path, its last elements or all of it; * stands for any letters within an element."`
}

func (s systemCall) fault() fault.SystemCall {
	return fault.SystemCall{Name: s.Syscall, Nth: max(1, int(s.Nth)), Path: s.Path}
}

// checkSystemCall reports unknown system calls, and fields that need a system call.
func (s *faultStep) checkSystemCall(c *checker) {
	if s.Before != nil {
		c.knownAs("before.syscall", "system call", s.Before.Syscall, machine.SystemCalls())
		c.pathPattern("before.path", s.Before.Path)
		if c.has("at") || c.has("afterChanges") {
			c.report("before", "before with at or afterChanges", "one of them: before says exactly when")
		}
		if !c.hasPrograms() {
			c.report("before", "a system call without a driver program", "a driver that is a program: a mock makes no system calls")
		}
	}
	if s.Fails == "" {
		for _, field := range []string{"syscall", "nth", "path"} {
			if c.has(field) {
				c.report(field, field+" without fails", "fails: EIO, or another error, beside it")
			}
		}
		return
	}
	c.knownAs("fails", "error", s.Fails, fault.SystemErrors())
	switch {
	case s.Syscall == "":
		c.report("fails", "fails without syscall", "syscall: mount, or another one, beside it")
	case s.Syscall == machine.Write:
		c.report("syscall", "system call \"write\", which csisim does not see", "open, which comes before the first one")
	default:
		c.knownAs("syscall", "system call", s.Syscall, slices.DeleteFunc(machine.SystemCalls(), func(name string) bool { return name == machine.Write }))
	}
	c.pathPattern("path", s.Path)
	if !c.hasPrograms() {
		c.report("fails", "a system call without a driver program", "a driver that is a program: a mock makes no system calls")
	}
}

// knownAs reports a word that is not one of the known words.
func (c *checker) knownAs(field, noun, word string, known []string) {
	if word != "" && !slices.Contains(known, word) {
		c.document.ReportUnknown(c.in(field), fmt.Sprintf("%s %q", noun, word), word, "one of "+strings.Join(known, ", "), known)
	}
}

func (c *checker) pathPattern(field, pattern string) {
	if _, err := path.Match(pattern, ""); err != nil {
		c.report(field, "pattern \""+pattern+"\"", "a path in which * stands for any letters within an element")
	}
}

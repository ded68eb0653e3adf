package wire

import (
	"errors"
	"fmt"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Crasher ends parts of the cluster at calls, and starts them again.
type Crasher interface {
	// Kill ends the victim like SIGKILL or a loss of power.
	Kill(fault.Victim, Site) error
	// Restart starts the victim of a fault again, unless it runs.
	Restart(*fault.Fault, Site) error
}

// KillAndRestart kills the victim of a fault at a site, and restarts it if the fault requires it.
// Messages contain the description of the occasion.
func (w *Wire) KillAndRestart(f *fault.Fault, site Site, what string) {
	k := w.World.Kernel
	if err := w.Crasher.Kill(f.Victim, site); err != nil {
		k.Interrupt(fmt.Errorf("kill %s at %s: %w", f.Victim, what, err))
	}
	if f.RestartAfter > 0 {
		k.After(nil, fmt.Sprintf("restart of %s", f.Victim), f.RestartAfter, func(*kernel.Process) {
			if err := w.Crasher.Restart(f, site); err != nil {
				k.Interrupt(&RestartError{f.Victim, what, err})
			}
		})
	}
}

// RestartError means that a component that a fault killed does not start again.
type RestartError struct {
	Victim fault.Victim
	At     string // the call at which it was killed
	Err    error
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("%s, killed at %s, does not start again: %v", e.Victim, e.At, e.Err)
}

// Unwrap is the cause.
func (e *RestartError) Unwrap() error { return e.Err }

// Verdict returns the verdict on a component that does not start again. The driver is to blame if
// its program exits; a slow machine may cause all other errors.
func (e *RestartError) Verdict() verdict.Verdict {
	if judged := (interface{ Verdict() verdict.Verdict })(nil); errors.As(e.Err, &judged) {
		return judged.Verdict() // another release was started
	}
	cause, _, _ := strings.Cut(e.Err.Error(), "\n")
	v := verdict.Verdict{Method: e.At, Form: DoesNotRestart}.Worded(
		verdict.Say("%s, killed at %s, does not start again", verdict.Kept(e.Victim), e.At).Aside(": %s", cause))
	if exits := (interface{ ProgramExited() bool })(nil); errors.As(e.Err, &exits) && exits.ProgramExited() {
		v.Breaks = verdict.Alive
	}
	return v
}

// DoesNotRestart is the form of a verdict on a component that does not start again.
const DoesNotRestart verdict.Form = "does not start again"

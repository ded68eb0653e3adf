package check

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// forgets returns a key for calls that no longer find an object after a restart of the driver: the
// driver has lost its records.
func forgets(f Finding) (key string, is bool) {
	lost := f.Form == contract.FailsForGood && f.Code == codes.NotFound.String() &&
		!slices.ContainsFunc(f.Shown, func(o Outcome) bool { return !o.startsAgain() })
	return fmt.Sprintf("%s %s %t", f.Code, f.Release, f.Known), lost
}

// alike returns a key that findings of several calls share if one cause explains them: the driver
// has lost its records, or does not release a lock.
func alike(f Finding) (key string, is bool) {
	if f.Form == contract.KeepsLock || f.Form == contract.FailsForGood && f.Code == codes.Aborted.String() {
		return fmt.Sprintf("locked %s %t", f.Release, f.Known), true
	}
	return forgets(f)
}

// startsAgain reports whether the trial ends the driver, or cuts the power of its node.
func (o Outcome) startsAgain() bool {
	return o.Result != nil && slices.ContainsFunc(o.Result.Trace, func(e *trace.Event) bool {
		return e.Is(trace.Plugin, trace.Killed, trace.Stopped) || e.Is(trace.Power, trace.Lost)
	})
}

// hint returns the advice on a finding.
func (f Finding) hint() string {
	if _, lost := forgets(f); lost && f.Failure.Hint == "" {
		return "the driver does not find objects that it knew before it started again"
	}
	return f.Failure.Hint
}

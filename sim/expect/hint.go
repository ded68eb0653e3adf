package expect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// hint returns the best lead: a fault that is still active, otherwise the last message of
// Kubernetes itself.
func (ev *Evidence) hint() string {
	for _, f := range ev.Faults.InForce() {
		if f.Times == 0 && !effect.Of(f.Effect).Doubles { // callers do not notice this fault
			return fmt.Sprintf("fault %s is still in force for every %s, until it is cleared", f.Name, f.Call)
		}
	}
	for _, f := range ev.Faults.Unused() {
		return fmt.Sprintf("fault %s never befell a call: no call so far was as it says", f.Name)
	}
	if e := ev.News(IsWarning); e != nil {
		return fmt.Sprintf("the last warning was %s about %s: %s", e.Method, e.Name, firstLine(e.Message))
	}
	if e := ev.News(IsFailedCall); e != nil {
		return fmt.Sprintf("the last call that failed was %s: %s", ev.Names.Line(e), firstLine(e.Message))
	}
	return ""
}

// IsWarning reports whether Kubernetes warns of something.
func IsWarning(e *trace.Event) bool {
	return e.Kind == trace.KubeEvent && e.Resource == corev1.EventTypeWarning
}

// IsFailedCall reports whether a call's caller received an error.
func IsFailedCall(e *trace.Event) bool { return e.Kind == trace.Call && e.Code != "" }

// News returns the newest event of a kind, unless a later call succeeded.
func (ev *Evidence) News(is func(*trace.Event) bool) *trace.Event {
	e := ev.lastOf(func(e *trace.Event) bool {
		return is(e) || e.Kind == trace.Call && calls.Result(e) == "OK" && !calls.IsAsking(e)
	})
	if e == nil || !is(e) {
		return nil
	}
	return e
}

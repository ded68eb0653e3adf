package scenario

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/trace"
)

// hint is what is most likely to lead on: a fault that is still in force, else what Kubernetes itself
// says last.
func (r *runner) hint() string {
	for _, f := range r.cluster.Wire.Faults.InForce() {
		if f.Times == 0 && f.Effect != fault.Repeat && f.Effect != fault.Contradict { // callers do not notice that one
			return fmt.Sprintf("fault %s still befalls every %s; end it with clear-fault: %s", f.Name, f.Call, f.Name)
		}
	}
	for _, f := range r.cluster.Wire.Faults.Unused() {
		return fmt.Sprintf("fault %s never befell a call: no call so far was as it says", f.Name)
	}
	if e := r.news(isWarning); e != nil {
		return fmt.Sprintf("the last warning was %s about %s: %s", e.Method, e.Name, firstLine(e.Message))
	}
	if e := r.news(isFailedCall); e != nil {
		return fmt.Sprintf("the last call that failed was %s: %s", r.journal.names.Line(e), firstLine(e.Message))
	}
	return ""
}

func isWarning(e *trace.Event) bool {
	return e.Kind == trace.KubeEvent && e.Resource == corev1.EventTypeWarning
}

func isFailedCall(e *trace.Event) bool { return e.Kind == trace.Call && e.Code != "" }

// news is the newest event of a kind, unless a call that succeeded has overtaken it.
func (r *runner) news(is func(*trace.Event) bool) *trace.Event {
	e := r.lastOf(func(e *trace.Event) bool {
		return is(e) || e.Kind == trace.Call && calls.Result(e) == "OK" && !calls.IsAsking(e)
	})
	if e == nil || !is(e) {
		return nil
	}
	return e
}

// restOf is what follows the first line of a text.
func restOf(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(rest)
}

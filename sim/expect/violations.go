package expect

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Violations expects that drivers keep to the CSI spec, except for allowed breaches.
type Violations Allowed

// String returns the expectation in words.
func (Violations) String() string { return "the driver keeps to the CSI spec" }

// Failure lists a driver's breaches of the CSI spec.
func (v Violations) Failure(ev *Evidence) *Failure {
	allowed := Allowed(v)
	var found []unwanted
	for _, violation := range ev.Violations() {
		found = append(found, unwanted{violation.Text, violation.Under("CSI spec violated")})
	}
	f := allowed.failure(v.String(), found)
	if f == nil {
		return v.ofKubernetes(ev)
	}
	f.About = ev.first(trace.Violation)
	f.Hint = contract.Advice(f.Verdict)
	f.Spec = contract.Section(f.Verdict.Method)
	return f
}

// ofKubernetes expects that Kubernetes calls drivers in the promised order, and that the plugin
// that attached a volume (a driver or an in-tree plugin) also detaches it. No driver is to blame
// for a breach. L-ADC-7
func (v Violations) ofKubernetes(ev *Evidence) *Failure {
	allowed := Allowed(v)
	for _, e := range ev.recorder.Events() {
		if e.Kind != trace.Violation || e.Method != "" { // a driver's breach is about a method
			continue
		}
		is, judged := e.Detail.(verdict.Verdict)
		if !judged {
			continue
		}
		expected := is.Breaks.Invariant().Holds
		if is.Is(verdict.Handover) {
			expected = "the side that attached a volume detaches it"
		}
		if f := allowed.failure(expected, []unwanted{{strings.TrimPrefix(is.Text, string(is.Form)+": "), is}}); f != nil {
			f.About = e
			return f
		}
	}
	return nil
}

// never returns the failure for things that must never happen. The trace records them in events of
// a kind.
func (ev *Evidence) never(expected string, judged []verdict.Verdict, kind trace.Kind) *Failure {
	var found []unwanted
	for _, v := range judged {
		found = append(found, unwanted{v.Found[0], v})
	}
	f := new(Allowed).failure(expected, found)
	if f != nil {
		f.About = ev.first(kind)
	}
	return f
}

// first returns the first event of the kind, because later ones may be its consequences.
func (ev *Evidence) first(kind trace.Kind) *trace.Event {
	for _, e := range ev.recorder.Events() {
		if e.Kind == kind {
			return e
		}
	}
	return nil
}

package expect

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/invariant"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// Violations is that drivers keep to the CSI spec, but for what is allowed.
type Violations Allowed

// String says it in words.
func (Violations) String() string { return "the driver keeps to the CSI spec" }

// Failure is what a driver did against the CSI spec.
func (v Violations) Failure(ev *Evidence) *Failure {
	allowed := Allowed(v)
	var found []string
	violations := ev.Violations()
	for _, violation := range violations {
		found = append(found, violation.String())
	}
	f := allowed.failure("CSI spec violated", v.String(), found)
	if f == nil {
		return v.ofKubernetes(ev)
	}
	f.About = ev.first(trace.Violation)
	f.Hint = contract.Advice(f.Verdict)
	f.Spec = violations[slices.Index(found, allowed.refused(found)[0])].Section()
	return f
}

// ofKubernetes is that Kubernetes calls drivers in the order that it promises, and that whoever attached a volume, a driver or an in-tree
// plugin, detaches it. It is no driver's fault if that is not so. L-ADC-7
func (v Violations) ofKubernetes(ev *Evidence) *Failure {
	allowed := Allowed(v)
	for _, e := range ev.recorder.Events() {
		if e.Kind != trace.Violation || e.Method != "" { // one of a driver is about a method
			continue
		}
		what, expected := "volume handed over", "the side that attached a volume detaches it"
		detail := e.Message
		for _, of := range []string{invariant.OutOfOrder, invariant.WrongRequest} {
			if rest, is := strings.CutPrefix(e.Message, of); is {
				what, expected, detail = strings.TrimSuffix(of, ": "), invariant.Of(e.Message).Holds, rest
			}
		}
		if f := allowed.failure(what, expected, []string{detail}); f != nil {
			f.About = e
			return f
		}
	}
	return nil
}

// never is the failure of what must not happen at all, and which the trace records in
// events of a kind.
func (ev *Evidence) never(what, expected string, found []string, kind trace.Kind) *Failure {
	f := new(Allowed).failure(what, expected, found)
	if f != nil {
		f.About = ev.first(kind)
	}
	return f
}

// first is the event of the kind with which it began: later ones may follow from it.
func (ev *Evidence) first(kind trace.Kind) *trace.Event {
	for _, e := range ev.recorder.Events() {
		if e.Kind == kind {
			return e
		}
	}
	return nil
}

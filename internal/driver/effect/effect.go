// Package effect lists the effects of faults on calls, one file each. An Effect describes itself.
// The list determines the step fault, the schema, searches, the rules of real clusters, the words
// in traces and the documentation. To add an effect, add its file and its lines in list.go, and its
// name for Go tests in package fault.
package effect

import (
	"fmt"
	"path"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
)

// Effect is an effect of a fault on a call.
type Effect struct {
	// Name is its name in Go tests and traces.
	Name fault.Effect
	// Field is the field of the step fault that selects it. Default: not available in steps.
	Field string
	// Given reports whether the fields of a step select the effect.
	Given func(*Fields) bool
	// Check reports mistakes in the effect's fields of a step, even if they do not select the
	// effect. The step's calls are given by a method or a pattern of methods. Default: there are
	// none.
	Check func(f *Fields, call string, c Checker)
	// Read sets a fault by the fields of a step that selects it. Default: there are no further
	// fields.
	Read func(*Fields, *fault.Fault)
	// Affects reports whether the effect can affect calls of a method, such as "NodeStageVolume".
	// Default: it can affect all.
	Affects func(method string) bool
	// InSearches returns the effect's faults of a kind that a search may inject. Default: none.
	InSearches func(fault.Kind, Called) []fault.Fault
	// Never returns the reason why a fault is impossible on a real cluster, empty if it is
	// possible. Default: it always is.
	Never func(*fault.Fault) string
	// InWords describes it in the words of a trace's inj field.
	InWords func(*fault.Fault) string
	// Disturbs reports whether the fault may have caused an answer with the code. Such an answer
	// does not show whether the driver is still working. Default: no answer was caused by the
	// fault.
	Disturbs func(codes.Code) bool
	// Doubles is set if the driver gets additional calls that have no caller.
	Doubles bool
	// Do makes the call under the fault. It returns the outcome for the caller.
	Do func(Call, *fault.Fault) error
}

var byName = func() map[fault.Effect]*Effect {
	found := map[fault.Effect]*Effect{}
	for _, e := range all {
		found[e.Name] = e
	}
	return found
}()

// Of returns the effect with a name. Default: a fault without one answers with its code.
func Of(name fault.Effect) *Effect {
	if e := byName[name]; e != nil {
		return e
	}
	return answer
}

// CanAffect reports whether a fault can affect calls of a method, such as "Node/NodeStageVolume".
func CanAffect(f *fault.Fault, method string) bool {
	e := Of(f.Effect)
	return e.Affects == nil || e.Affects(path.Base(method))
}

// InWords describes a fault in the words of a trace's inj field.
func InWords(f *fault.Fault) string { return Of(f.Effect).InWords(f) }

// Never returns the reason why a fault is impossible on a real cluster; empty if it is possible.
func Never(f *fault.Fault) string {
	if e := Of(f.Effect); e.Never != nil {
		return e.Never(f)
	}
	return ""
}

// unseen returns the reason for effects that depend on the system calls of the driver.
func unseen(*fault.Fault) string { return "the proxy does not see the driver's system calls" }

// always implements Disturbs for effects that may have caused any answer.
func always(codes.Code) bool { return true }

// butAborted implements Disturbs for effects that may have caused any answer, except the answer
// that the driver is busy.
func butAborted(code codes.Code) bool { return code != codes.Aborted }

// words returns the same description for all faults of an effect.
func words(text string) func(*fault.Fault) string {
	return func(*fault.Fault) string { return text }
}

// searchedAs describes, for searches, an effect with one fault of one kind.
func searchedAs(kind fault.Kind, f fault.Fault) func(fault.Kind, Called) []fault.Fault {
	return func(asked fault.Kind, _ Called) []fault.Fault {
		if asked != kind {
			return nil
		}
		return []fault.Fault{f}
	}
}

// checkChanges reports a call that changes nothing, because the effect of the field needs a call
// that changes something.
func checkChanges(field string, given func(*Fields) bool) func(*Fields, string, Checker) {
	return func(f *Fields, call string, c Checker) {
		if given(f) && calls.IsMethod(call) && !calls.MayBe(call, fault.HasEffect) {
			c.Report("call", fmt.Sprintf("%s of %s, which changes nothing", field, call), "a call that changes something, such as NodeStageVolume, or *")
		}
	}
}

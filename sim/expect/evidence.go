// Package expect has the expectations about a run: CSI calls in an order or their absence, objects,
// Kubernetes events, no leftovers. The scenario language and the Go API each have their own syntax
// for them, and report the same failures.
package expect

import (
	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/store"
)

// Evidence is the evidence for checking expectations: a run up to now.
type Evidence struct {
	*Journal
	Store *store.Store
	// Since is the Seq of the last event that is ignored: only later calls and Kubernetes events
	// count.
	Since uint64
	// Faults are the injected faults.
	Faults *fault.Set
	// Leftovers, Violations and LostData look for problems.
	Leftovers  func() []ledger.Entry
	Violations func() []verdict.Verdict
	LostData   func() []verdict.Verdict
	// Unmounted are foreign mounts that drivers unmounted.
	Unmounted func() []verdict.Verdict
	// Died are programs of drivers that ended by themselves.
	Died func() []Death
}

// From returns the evidence after an event.
func (ev *Evidence) From(seq uint64) *Evidence {
	later := *ev
	later.Since = seq
	return &later
}

// Expectation is a statement about a run.
type Expectation interface {
	// Failure returns the difference from the expectation; it is nil if the expectation holds.
	Failure(*Evidence) *Failure
	// String returns the expectation in words.
	String() string
}

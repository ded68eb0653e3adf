// Package expect is what can be expected of a run: CSI calls in an order, or none
// of them, objects, Kubernetes events, nothing left behind. The scenario language
// and the Go API say it in their own ways and get the same for what is otherwise.
package expect

import (
	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/store"
)

// Evidence is what expectations are held against: a run as far as it has come.
type Evidence struct {
	*Journal
	Store *store.Store
	// Since is the Seq of the last event that does not count: calls and Kubernetes
	// events are those after it.
	Since uint64
	// Faults are those that were injected.
	Faults *fault.Set
	// Leftovers, Violations and LostData look for what should not be.
	Leftovers  func() []ledger.Entry
	Violations func() []verdict.Verdict
	LostData   func() []verdict.Verdict
	// Unmounted are mounts that drivers took off although they were not their own.
	Unmounted func() []verdict.Verdict
	// Died are programs of drivers that ended by themselves.
	Died func() []Death
}

// From is the evidence without what happened up to an event.
func (ev *Evidence) From(seq uint64) *Evidence {
	later := *ev
	later.Since = seq
	return &later
}

// Expectation is something that holds of a run, or does not.
type Expectation interface {
	// Failure says what is otherwise; it is nil if all is as expected.
	Failure(*Evidence) *Failure
	// String is what is expected, in words.
	String() string
}

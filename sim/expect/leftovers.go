package expect

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

// Leftovers expects that nothing is left behind, apart from allowed leftovers. Leftovers of
// Kubernetes itself are not failures.
type Leftovers Allowed

// String returns the expectation in words.
func (Leftovers) String() string { return "nothing is left behind" }

// Failure lists the leftovers with the party to blame.
func (l Leftovers) Failure(ev *Evidence) *Failure {
	allowed := Allowed(l)
	leaks := allowed.Without(ev.Leftovers())
	var found []unwanted
	for _, e := range leaks {
		found = append(found, unwanted{e.String(), e.Verdict()})
	}
	f := allowed.failure(l.String(), found)
	if f != nil {
		f.About = culprit(leaks)
	}
	return f
}

// Without returns the forbidden entries.
func (a *Allowed) Without(entries []ledger.Entry) []ledger.Entry {
	return slices.DeleteFunc(entries, func(e ledger.Entry) bool { return a.allows(e.Subject()) })
}

// culprit returns the call that should have removed the first of the leaks. If that call is
// missing, it returns the event that made the leak.
func culprit(leaks []ledger.Entry) *trace.Event {
	for _, e := range leaks {
		if e.Undone != nil {
			return e.Undone.Event
		}
	}
	for _, e := range leaks {
		if e.Made != nil {
			return e.Made.Event
		}
	}
	return nil
}

package scenario

import (
	"slices"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/ledger"
	"github.com/csisim/csisim/sim/trace"
)

// leftoverFailure says that something was left behind, and who is to blame. What
// Kubernetes itself leaves fails nobody.
func leftoverFailure(r *runner, allowed *Allowed) *Failure {
	if allowed == nil {
		return nil
	}
	leaks := slices.DeleteFunc(r.cluster.Leftovers(), func(e ledger.Entry) bool { return allowed.allows(e.Subject()) })
	var found []string
	for _, e := range leaks {
		found = append(found, e.String())
	}
	f := allowed.failure("left behind", "nothing is left behind", found)
	if f != nil {
		f.about = culprit(leaks)
	}
	return f
}

// culprit is the call that should have taken the first of the leaks away or, if
// none came, what made it.
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

// notes are what was left behind without making the run fail, one a line, and what
// could not be looked at.
func (r *runner) notes(allowed *Allowed) []string {
	found := r.cluster.Ledger()
	litter := slices.DeleteFunc(found.Litter, func(e ledger.Entry) bool { return allowed.allows(e.Subject()) })
	return append(lines("left behind: ", litter), unseen(found)...)
}

func unseen(l sim.Ledger) []string {
	var all []string
	for _, what := range l.Unseen {
		all = append(all, "could not be looked at: "+what)
	}
	return all
}

func lines(before string, entries []ledger.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, before+e.String())
	}
	return all
}

package scenario

import (
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/ledger"
)

// notes are what was left behind without making the run fail, one a line, and what
// could not be looked at.
func (r *runner) notes(allowed *expect.Allowed) []string {
	found := r.cluster.Ledger()
	return append(lines("left behind: ", allowed.Without(found.Litter)), unseen(found)...)
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

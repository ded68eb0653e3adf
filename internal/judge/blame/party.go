package blame

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Run has the facts about a search's run that determine the party responsible for a finding.
type Run struct {
	// Belated: a call takes effect after its caller has continued. OfUser: a user or an
	// administrator acts.
	Belated, OfUser bool
	// OfDriverAlone: the driver is to blame, whatever other parties do.
	OfDriverAlone bool
	// Party is the responsible party, determined without the choices of the run.
	Party verdict.Blame
}

// Party returns the responsible party of a finding of a search.
func Party(v verdict.Verdict, by Run) verdict.Blame {
	switch {
	case by.Belated && !v.Is(verdict.Alive, verdict.Answers, verdict.Locks, verdict.Sizes):
		return verdict.Kubernetes
	case by.OfUser && !by.OfDriverAlone:
		return verdict.User
	}
	return by.Party
}

// Unexplained reports whether Kubernetes is responsible for a finding and none of its known
// behaviours explains it. Such findings are conditions that are never met, calls that are not
// retried, calls in an order that Kubernetes excludes, and calls without required fields.
func Unexplained(v verdict.Verdict, hazards []*Hazard, never bool) bool {
	if v.Form == calls.OutOfOrder || v.Form == calls.WrongRequest {
		return true
	}
	known := slices.ContainsFunc(hazards, func(h *Hazard) bool { return h.ForGood })
	return !known && (never || v.Is(verdict.AskedAgain))
}

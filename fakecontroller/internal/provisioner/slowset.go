package provisioner

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// slowSet holds the claims with an infeasible result, each with its class. A new class ends the
// delay early. C-LIB-8, C-PROV-15
type slowSet map[types.UID]infeasibleClaim

type infeasibleClaim struct {
	class types.UID
	since time.Duration
}

// add does not prolong the delay of a claim that is in the set.
func (s slowSet) add(claim, class types.UID, now time.Duration) {
	if !s.contains(claim, class, now) {
		s[claim] = infeasibleClaim{class, now}
	}
}

func (s slowSet) contains(claim, class types.UID, now time.Duration) bool {
	entry, ok := s[claim]
	if ok && (entry.class != class || now-entry.since >= infeasibleDelay) {
		delete(s, claim)
		return false
	}
	return ok
}

package check

import (
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Harm is the damage of a finding on a cluster, the worst first.
type Harm int

// The harms.
const (
	// DataLoss: data is lost, or two writers share a volume.
	DataLoss Harm = iota
	// NotStarted: the driver's program does not start, or exits.
	NotStarted
	// Stuck: a pod or a volume waits forever.
	Stuck
	// Leak: an object is left behind or created twice.
	Leak
	// Contract: an answer violates the CSI spec.
	Contract
)

// String returns the harm in the words of the card.
func (h Harm) String() string {
	return [...]string{"data loss", "does not start", "stuck", "leak", "contract"}[h]
}

// harms are the harms of invariants. All others violate the contract.
var harms = map[verdict.Key]Harm{
	verdict.Data: DataLoss, verdict.ForeignMounts: DataLoss, verdict.SingleWriter: DataLoss,
	verdict.Alive: NotStarted,
	verdict.Locks: Stuck, verdict.Progress: Stuck,
	verdict.LeftBehind: Leak, verdict.Undone: Leak, verdict.AskedAgain: Leak, verdict.Effective: Leak,
}

func harmOf(v verdict.Verdict) Harm {
	switch {
	case v.Form == contract.MakesSmaller:
		return DataLoss
	case v.Form == contract.FailsForGood, v.Form == contract.NotIdempotent && v.Code != "":
		return Stuck // a caller repeats the call without an end
	case v.Form == contract.NotIdempotent && v.Field == "":
		return Leak
	}
	if harm, known := harms[v.Breaks]; known {
		return harm
	}
	return Contract
}

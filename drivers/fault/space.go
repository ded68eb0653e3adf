package fault

import (
	"time"

	"google.golang.org/grpc/codes"
)

// Kind is a family of faults that a search may draw from.
type Kind string

// The kinds of faults that a Space may have.
const (
	Lost     Kind = "lost"   // the driver did it, its answer is lost
	Errors   Kind = "error"  // the driver never sees the call, which fails
	Late     Kind = "late"   // the answer comes when the caller has given up
	Repeated Kind = "repeat" // the driver gets the same call again
	Killed   Kind = "kill"   // the driver is killed at the call, and started again
)

// Kinds lists them.
func Kinds() []Kind { return []Kind{Lost, Errors, Late, Repeated, Killed} }

// Space is what may go wrong at the calls of a run that change something: the run's strategy
// decides whether and what. The zero value is nothing.
type Space struct {
	// Kinds are the kinds of faults that may happen. Default: none.
	Kinds []Kind
	// Budget is how many faults a run may have at most. Default: none.
	Budget int
}

// restartTime is how long, in virtual time, a killed driver is gone.
const restartTime = 2 * time.Second

// Alternatives are the faults that can befall a call, each with a name of its own, in an
// order that depends on the kinds alone.
func (s Space) Alternatives() []Fault {
	if s.Budget == 0 {
		return nil
	}
	var all []Fault
	for _, kind := range s.Kinds {
		all = append(all, kind.alternatives()...)
	}
	for i := range all {
		all[i].Message = "injected: " + all[i].Name
	}
	return all
}

func (k Kind) alternatives() []Fault {
	switch k {
	case Lost:
		return []Fault{{Name: "answer lost", Effect: LoseAnswer, Code: codes.Unavailable}}
	case Errors:
		var all []Fault
		for _, code := range []codes.Code{codes.Unavailable, codes.Internal, codes.Aborted, codes.DeadlineExceeded} {
			all = append(all, Fault{Name: "fails with " + code.String(), Effect: Answer, Code: code})
		}
		return all
	case Late:
		return []Fault{{Name: "answer late", Effect: LateAnswer}}
	case Repeated:
		return []Fault{{Name: "repeated", Effect: Repeat}}
	case Killed:
		return []Fault{
			{Name: "driver killed before it acts", Effect: Kill, Victim: Driver, At: OnReceipt, RestartAfter: restartTime},
			{Name: "driver killed before it answers", Effect: Kill, Victim: Driver, At: BeforeAnswer, RestartAfter: restartTime},
		}
	}
	return nil
}

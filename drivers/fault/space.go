package fault

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
)

// Kind is a family of faults that a search may draw from.
type Kind string

// The kinds of faults that a Space may have.
const (
	Lost     Kind = "lost"    // the driver did it, its answer is lost
	Errors   Kind = "error"   // the driver never sees the call, which fails
	Late     Kind = "late"    // the answer comes when the caller has given up, whose deadline the driver may see pass
	Belated  Kind = "belated" // the driver does it when the caller has given up
	Repeated Kind = "repeat"  // the driver gets the same call again
	Overlaps Kind = "overlap" // the driver gets the call twice at once
	Stalls   Kind = "stall"   // the driver stands still in the call while others come
	Killed   Kind = "kill"    // the driver is killed at the call, and started again
	Halfway  Kind = "halfway" // the driver's program is killed between two of its changes of files, or finds in use what it unmounts
	Crashed  Kind = "crash"   // who calls, or writes to the API, is killed, and started again
	Power    Kind = "power"   // the called plugin's node loses power, and gets it back
	API      Kind = "api"     // a write to the API conflicts, is refused, or its answer is lost
	User     Kind = "user"    // a user deletes what the cluster is busy with, and makes it again; drains; edits
	Services Kind = "service" // a request of the driver to the stand-in for its service fails
	Sockets  Kind = "socket"  // the registration socket of the called plugin vanishes, or it registers twice
)

// Kinds lists them.
func Kinds() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services, Belated, Overlaps, Stalls, User, Sockets}
}

// Usual lists those that happen to each cluster and that a run makes again: what users do to it is left out, and so is what makes two
// calls be in the driver at once.
func Usual() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services}
}

// Space is what may go wrong at the calls and the writes to the API of a run that change something:
// the run's strategy decides whether and what. The zero value is nothing.
type Space struct {
	// Kinds are the kinds of faults that may happen. Default: none.
	Kinds []Kind
	// Budget is how many faults a run may have at most. Default: none.
	Budget int
}

const (
	// RestartTime is how long, in virtual time, a program is gone that a fault of a Space killed.
	RestartTime = 2 * time.Second
	// bootTime is how long a node is without power: it is back before anybody takes it for lost.
	bootTime = 20 * time.Second
)

// Belatedly is the name of the fault by which a call takes effect when its caller has given up. Callers have gone on by then: what it
// undoes of what came after is no driver's fault.
const Belatedly = "takes effect when its caller has given up"

// Has reports whether faults of the kind may happen.
func (s Space) Has(kind Kind) bool { return s.Budget > 0 && slices.Contains(s.Kinds, kind) }

// Called is what of a call decides which faults can befall it.
type Called struct {
	// OnNode says that it is one to a plugin on a node. Default: to a controller plugin.
	OnNode bool
	// Watched says that the plugin is a program whose system calls are seen. Default: it is Go code of this process, or somebody else's.
	Watched bool
	// Unmounts says that it takes mounts away.
	Unmounts bool
	// Served says that the plugin makes HTTP requests of a stand-in that shows them.
	Served bool
}

// AtCall are the faults that can befall a call, each with a name of its own, in an order that depends on the kinds alone.
// Spaces have them in common: who wants to change one, or to inject it, copies it.
func (s Space) AtCall(c Called) []*Fault {
	if s.Budget == 0 {
		return nil
	}
	var all []*Fault
	for _, kind := range s.Kinds {
		all = append(all, atCalls[c][kind]...)
	}
	return all
}

// atCalls are the faults of each kind, made once: each run of a search asks for them.
var atCalls = map[Called]map[Kind][]*Fault{}

func init() {
	for _, c := range []Called{{}, {OnNode: true}, {OnNode: true, Unmounts: true}} {
		for _, watched := range []bool{false, true} {
			for _, served := range []bool{false, true} {
				c.Watched, c.Served = watched, served
				atCalls[c] = allAtCall(c)
			}
		}
	}
}

func allAtCall(c Called) map[Kind][]*Fault {
	all := map[Kind][]*Fault{}
	for _, kind := range Kinds() {
		for _, f := range kind.atCall(c) {
			f.Message = "injected: " + f.Name
			all[kind] = append(all[kind], &f)
		}
	}
	return all
}

// atCall are the faults of a kind; some befall calls to plugins on nodes alone, or to programs.
func (k Kind) atCall(c Called) []Fault {
	switch k {
	case User:
		if !c.OnNode {
			return meanwhile(PodsAgain, PodsByForce, ClaimsAgain, AllAgain, Scales, Edits, Detaches)
		}
		return meanwhile(PodsAgain, PodsByForce, ClaimsAgain, AllAgain, Scales, Edits, Detaches, Drains, DeletesNode)
	case Lost:
		return []Fault{{Name: "answer lost", Effect: LoseAnswer, Code: codes.Unavailable}}
	case Errors:
		var all []Fault
		for _, code := range []codes.Code{codes.Unavailable, codes.Internal, codes.Aborted, codes.DeadlineExceeded} {
			all = append(all, Fault{Name: "fails with " + code.String(), Effect: Answer, Code: code})
		}
		return all
	case Late:
		return []Fault{{Name: "answer late", Effect: LateAnswer}, {Name: "times out in the driver", Effect: TimeOut}}
	case Belated:
		return []Fault{{Name: Belatedly, Effect: LateEffect}}
	case Overlaps:
		return []Fault{{Name: "comes twice at once", Effect: Overlap}}
	case Stalls:
		return []Fault{{Name: "stalls in the driver", Effect: Stall}}
	case Repeated:
		return []Fault{{Name: "repeated", Effect: Repeat}}
	case Killed:
		return deaths(Driver, "driver killed", RestartTime)
	case Halfway:
		return halfway(c)
	case Services:
		return failingRequests(c)
	case Crashed:
		return deaths(Caller, "caller killed", RestartTime)
	case Sockets:
		if c.OnNode {
			return meanwhile(SocketVanishes, RegistersTwice)
		}
	case Power:
		if !c.OnNode {
			return nil
		}
		return deaths(Node, "node loses power", bootTime)
	}
	return nil
}

// deaths are those of a victim before and after the driver acts.
func deaths(of Victim, name string, restart time.Duration) []Fault {
	return []Fault{
		{Name: name + " before the driver acts", Effect: Kill, Victim: of, At: OnReceipt, RestartAfter: restart},
		{Name: name + " before the answer", Effect: Kill, Victim: of, At: BeforeAnswer, RestartAfter: restart},
	}
}

// mostChanges is how many changes of files a program has made at most when it is killed halfway: few calls make more.
const mostChanges = 4

// halfway are the faults of a program at its work.
func halfway(c Called) (all []Fault) {
	if !c.Watched {
		return nil
	}
	if c.Unmounts {
		all = append(all, Fault{Name: "what it unmounts is in use", Effect: InUse})
	}
	for n := 1; n <= mostChanges; n++ {
		all = append(all, Fault{
			Name:   fmt.Sprintf("driver killed halfway, after change %d", n),
			Effect: Kill, Victim: Driver, At: AtWork, Changes: n, RestartAfter: RestartTime,
		})
	}
	return all
}

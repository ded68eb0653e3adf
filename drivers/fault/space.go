package fault

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
)

// Kind is a family of faults for a search.
type Kind string

// The kinds of faults of a Space.
const (
	Lost     Kind = "lost"    // the driver executed the call, its answer is lost
	Errors   Kind = "error"   // the call fails before it reaches the driver
	Late     Kind = "late"    // the answer arrives after the caller has given up; the driver may see the deadline pass
	Belated  Kind = "belated" // the driver acts after the caller has given up
	Repeated Kind = "repeat"  // the driver receives the same call again
	Overlaps Kind = "overlap" // the driver receives the call twice at once
	Stalls   Kind = "stall"   // the driver stops in the call while others come
	Killed   Kind = "kill"    // the driver is killed during the call, and restarted
	Halfway  Kind = "halfway" // a driver program is killed between two changes of files, or a mount is in use
	Crashed  Kind = "crash"   // the caller, or the writer of an object, is killed, and restarted
	Power    Kind = "power"   // the called plugin's node loses power, and boots again
	API      Kind = "api"     // a write to the API conflicts, is rejected, or its answer is lost
	User     Kind = "user"    // a user deletes objects in use, and creates them again; drains; edits
	Services Kind = "service" // a request of the driver to the stand-in for its service fails
	Mounts   Kind = "mounted" // the mounted file system of a volume fails while the driver works on the call
	Upgrades Kind = "upgrade" // the driver is killed during the call, and another release is started
	Sockets  Kind = "socket"  // the registration socket of the called plugin vanishes, or it registers twice
)

// Kinds lists them.
func Kinds() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services, Belated, Overlaps, Stalls, User, Mounts, Sockets, Upgrades}
}

// Usual lists the kinds that occur in every cluster and lead to a repetition. It excludes actions
// of users, and faults that cause simultaneous calls in the driver.
func Usual() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services}
}

// Space is the set of possible faults of a run, at calls and writes to the API that change
// something. The run's strategy decides which of them happen. The zero value is empty.
type Space struct {
	// Kinds are the kinds of faults that may happen. Default: none.
	Kinds []Kind
	// Budget bounds the faults of a run. Default: none.
	Budget int
}

const (
	// RestartTime is the virtual time until a program that a fault killed is restarted.
	RestartTime = 2 * time.Second
	// bootTime is the time for which a node is without power: it is back before Kubernetes
	// considers it lost.
	bootTime = 20 * time.Second
)

// Belatedly is the name of the fault that makes a call take effect after its caller has given up.
// Callers have continued by then, so the driver is not responsible if this reverts later changes.
const Belatedly = "takes effect when its caller has given up"

// Has reports whether faults of the kind may happen.
func (s Space) Has(kind Kind) bool { return s.Budget > 0 && slices.Contains(s.Kinds, kind) }

// Called holds the properties of a call that determine its possible faults.
type Called struct {
	// OnNode is set for calls to plugins on nodes. Default: to a controller plugin.
	OnNode bool
	// Watched is set if the plugin is a program with traced system calls. Default: it is Go code of
	// this process, or not started by csisim.
	Watched bool
	// Unmounts is set if the call unmounts.
	Unmounts bool
	// Versioned is set if the plugin is a program with other releases.
	Versioned bool
	// Served is set if the plugin makes HTTP requests to a stand-in that reports them.
	Served bool
}

// AtCall returns the possible faults of a call, each with a unique name, in an order that depends
// only on the kinds. Spaces share them: copy one before you change or inject it.
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

// atCalls caches the faults of each kind, since each run of a search needs them.
var atCalls = map[Called]map[Kind][]*Fault{}

func init() {
	for _, c := range []Called{{}, {OnNode: true}, {OnNode: true, Unmounts: true}} {
		for _, watched := range []bool{false, true} {
			for _, served := range []bool{false, true} {
				for _, versioned := range []bool{false, true} {
					c.Watched, c.Served, c.Versioned = watched, served, versioned
					atCalls[c] = allAtCall(c)
				}
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

// atCall returns the faults of a kind; some only apply to calls to plugins on nodes, or to
// programs.
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
	case Mounts:
		return failingMounts(c)
	case Upgrades:
		return upgrades(c)
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

// deaths returns the kills of a victim before and after the driver acts.
func deaths(of Victim, name string, restart time.Duration) []Fault {
	return []Fault{
		{Name: name + " before the driver acts", Effect: Kill, Victim: of, At: OnReceipt, RestartAfter: restart},
		{Name: name + " before the answer", Effect: Kill, Victim: of, At: BeforeAnswer, RestartAfter: restart},
	}
}

// upgrades returns the deaths of a driver after which another release of it is started.
func upgrades(c Called) []Fault {
	if !c.Versioned {
		return nil
	}
	all := deaths(Driver, "driver upgraded", RestartTime)
	if c.Watched {
		all = append(all, Fault{Name: "driver upgraded halfway", Effect: Kill, Victim: Driver, At: AtWork, Changes: 1, RestartAfter: RestartTime})
	}
	for i := range all {
		all[i].RestartAs = NextRelease
	}
	return all
}

// mostChanges bounds the changes of files after which a program is killed halfway: few calls make
// more.
const mostChanges = 4

// halfway returns the faults of a program during its work.
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

package fault

import (
	"slices"
	"time"
)

// Kind is a family of faults for a search.
type Kind string

// The kinds of faults of a Space.
const (
	Lost   Kind = "lost"  // the driver executed the call, its answer is lost
	Errors Kind = "error" // the call fails before it reaches the driver
	// The answer arrives after the caller has given up; the driver may notice the expired deadline.
	Late     Kind = "late"
	Belated  Kind = "belated" // the driver acts after the caller has given up
	Repeated Kind = "repeat"  // the driver receives the same call again
	Overlaps Kind = "overlap" // the driver receives the call twice at once
	Stalls   Kind = "stall"   // the driver stops in the call while other calls arrive
	Killed   Kind = "kill"    // the driver is killed during the call, and restarted
	// A driver program is killed between two changes of files, or a mount is in use.
	Halfway Kind = "halfway"
	Crashed Kind = "crash" // the caller, or the writer of an object, is killed, and restarted
	Power   Kind = "power" // the called plugin's node loses power, and boots again
	API     Kind = "api"   // a write to the API conflicts, is rejected, or its answer is lost
	// A user deletes and recreates objects in use, edits objects, or drains a node.
	User     Kind = "user"
	Services Kind = "service" // a request of the driver to the stand-in for its service fails
	// The mounted file system of a volume fails while the driver works on the call.
	Mounts Kind = "mounted"
	// The driver is killed during the call, and another release is started.
	Upgrades Kind = "upgrade"
	// The registration socket of the called plugin vanishes, or the plugin registers twice.
	Sockets Kind = "socket"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services, Belated, Overlaps, Stalls, User, Mounts, Sockets, Upgrades}
}

// Usual lists the kinds that occur in every cluster and lead to a repetition. It excludes actions
// of users, and faults that cause simultaneous calls in the driver.
func Usual() []Kind {
	return []Kind{Lost, Errors, Late, Repeated, Killed, Halfway, Crashed, Power, API, Services}
}

// Space is the set of possible faults of a run, at calls and API writes that change something. The
// run's strategy decides which of them happen. The zero value is empty.
type Space struct {
	// Kinds are the kinds of faults that may happen. Default: none.
	Kinds []Kind
	// Budget bounds the faults of a run. Default: none.
	Budget int
}

// RestartTime is the virtual time until a program that a fault killed is restarted.
const RestartTime = 2 * time.Second

// Belatedly is the name of the fault that makes a call take effect after its caller has given up.
// Callers have continued by then, so the driver is not responsible if the late call reverts later
// changes.
const Belatedly = "takes effect when its caller has given up"

// Has reports whether faults of the kind may happen.
func (s Space) Has(kind Kind) bool { return s.Budget > 0 && slices.Contains(s.Kinds, kind) }

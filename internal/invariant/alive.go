package invariant

import "strings"

var alive = &Invariant{
	Name: "alive", Holds: "the driver's program runs until it is stopped: it neither panics nor exits by itself, and starts again after it was killed",
	Reason: "while it is gone no pod on the node starts or ends, and what it was doing is half done",
	Rules:  []string{"CSI spec: Process Lifecycle"}, Blame: Driver, Rank: Dies, breaks: diesOrStays,
}

// diesOrStays recognises a program that ends by itself. One that was killed and does not start again has to have ended, too: a busy
// computer may take long to start it.
func diesOrStays(verdict string) bool {
	return strings.HasPrefix(verdict, "driver died: ") ||
		strings.Contains(verdict, ", does not start again: start driver ") && strings.Contains(verdict, ": program exited before it answered")
}

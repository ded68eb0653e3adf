package verdict

// Alive is the key of the invariant in this file.
const Alive Key = "alive"

var alive = &Invariant{
	Name:   Alive,
	Holds:  "the driver's program runs until it is stopped: it neither panics nor exits by itself, starts again after it was killed, and has no data race that its race detector reports",
	Reason: "while it is down no pod on the node starts or ends, and its work is half done",
	Rules:  []string{"CSI spec: Process Lifecycle"},
	Blame:  Driver,
	Rank:   Dies,
}

package invariant

var alive = &Invariant{
	Name: "alive", Holds: "the driver's program runs until it is stopped: it neither panics nor exits by itself",
	Reason: "while it is gone no pod on the node starts or ends, and what it was doing is half done",
	Rules:  []string{"CSI spec: Process Lifecycle"}, Blame: Driver, Rank: Dies, breaks: begins("driver died: "),
}

package invariant

var data = &Invariant{
	Name: "data", Holds: "each pod finds in its volumes what was written there", Reason: "it is what volumes are for",
	Rules: []string{"CSI spec: Volume Lifecycle"}, Blame: Driver, Rank: Spoils, breaks: begins("data lost"),
}

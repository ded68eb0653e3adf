package invariant

// BrokenOwn begins the verdict of an invariant of a scenario's own that does not hold.
const BrokenOwn = "invariant broken: "

var own = &Invariant{
	Name: "own", Holds: "what a scenario lists in always is true at the end of each instant",
	Reason: "its author says so in because", Rules: []string{"docs/explore.md"}, Blame: Own, Rank: Breach, breaks: begins(BrokenOwn),
}

package invariant

import "strings"

// Progress is the name of the invariant that what was asked for comes about.
const Progress = "progress"

var progress = &Invariant{
	Name: Progress, Holds: "once faults stop, what was asked for comes about: pods run, deletions end",
	Reason: "somebody has to be called at night", Rules: []string{"Kubernetes: controllers converge"}, Blame: Kubernetes, Rank: Waits,
	breaks: func(verdict string) bool {
		return strings.HasPrefix(verdict, "timed out ") || strings.Contains(verdict, "can never come true")
	},
}

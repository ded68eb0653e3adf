package verdict

// Progress is the key of the invariant in this file.
const Progress Key = "progress"

var progress = &Invariant{
	Name:   Progress,
	Holds:  "once faults stop, what was asked for comes about: pods run, deletions end",
	Reason: "somebody has to be called at night",
	Rules:  []string{"Kubernetes: controllers converge"},
	Blame:  Kubernetes,
	Rank:   Waits,
}

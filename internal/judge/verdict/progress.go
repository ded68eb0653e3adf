package verdict

// Progress is the key of the invariant in this file.
const Progress Key = "progress"

var progress = &Invariant{
	Name:   Progress,
	Holds:  "once faults stop, every request is carried out: pods run, deletions end",
	Reason: "otherwise an administrator has to step in",
	Rules:  []string{"Kubernetes: controllers converge"},
	Blame:  Kubernetes,
	Rank:   Waits,
}

package verdict

// Data is the key of the invariant in this file.
const Data Key = "data"

var data = &Invariant{
	Name:   Data,
	Holds:  "each pod finds the files in its volumes that were written there, and a pod can write to a volume that it mounts for writing, if a pod could before",
	Reason: "volumes exist to keep data",
	Rules:  []string{"CSI spec: Volume Lifecycle"},
	Blame:  Driver,
	Rank:   Spoils,
}

package verdict

// Data is the key of the invariant in this file.
const Data Key = "data"

var data = &Invariant{
	Name:   Data,
	Holds:  "each pod finds the files that were written to its volumes, and can write to a volume that it mounts for writing, if another pod could before",
	Reason: "volumes exist to keep data",
	Rules:  []string{"CSI spec: Volume Lifecycle"},
	Blame:  Driver,
	Rank:   Spoils,
}

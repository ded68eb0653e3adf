package verdict

// Data is the key of the invariant in this file.
const Data Key = "data"

var data = &Invariant{
	Name:   Data,
	Holds:  "each pod finds in its volumes what was written there, and a pod that asks for a volume to write to it can, if one could before",
	Reason: "it is what volumes are for",
	Rules:  []string{"CSI spec: Volume Lifecycle"},
	Blame:  Driver,
	Rank:   Spoils,
}

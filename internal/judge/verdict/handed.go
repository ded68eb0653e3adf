package verdict

// HandedOn is the key of a call that lacks the content of earlier answers.
const HandedOn Key = "handed-on"

var handedOn = &Invariant{
	Name:   HandedOn,
	Holds:  "a call gets the values of earlier answers and requests: the context of the volume, the context of its attachment, the path where it is staged, and whether it is a block device",
	Reason: "without the values, or with those of another volume, a driver rejects the call or uses another device",
	Rules:  []string{"CSI spec: NodeStageVolume", "CSI spec: NodePublishVolume", "K-STAGE-3", "K-PUB-3"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

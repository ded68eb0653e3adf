package verdict

// The keys of leftovers: of the driver; of a missing call; of a failed call without a repetition.
const (
	LeftBehind Key = "leaks"
	Undone     Key = "undone"
	AskedAgain Key = "asked-again"
)

var leaked = &Invariant{
	Name:   LeftBehind,
	Holds:  "after a call that removes something, the driver leaves nothing of it behind: no mount, file, device, attachment, volume or its content, snapshot, nor memory or open files of its program for them",
	Reason: "storage that is left behind costs money, and a node that fills up takes no more pods",
	Rules:  []string{"CSI spec: DeleteVolume", "CSI spec: ControllerUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   Leaks,
}

var undone = &Invariant{
	Name:   Undone,
	Holds:  "Kubernetes removes each object that a driver has created for it, once it is no longer needed",
	Reason: "under some faults real Kubernetes forgets its own request, and the object stays",
	Rules:  []string{"C-SNAP-30", "K-RECON"},
	Blame:  Kubernetes,
	Rank:   Leaks,
}

var askedAgain = &Invariant{
	Name:   AskedAgain,
	Holds:  "a failed call is repeated until it succeeds",
	Reason: "otherwise the object stays for ever, and no driver can prevent that",
	Rules:  []string{"C-GEN-6", "K-OP-3"},
	Blame:  Kubernetes,
	Rank:   Leaks,
}

package verdict

// The keys of leftovers: of the driver; of a missing call; of a call that failed and was not
// repeated.
const (
	LeftBehind Key = "leaks"
	Undone     Key = "undone"
	AskedAgain Key = "asked-again"
)

var leaked = &Invariant{
	Name:   LeftBehind,
	Holds:  "what a driver was asked to take away is gone: mounts, files, devices, attachments, volumes with their content, snapshots, and what a program holds for them",
	Reason: "it costs money, and on nodes ends in one that takes no pods any more",
	Rules:  []string{"CSI spec: DeleteVolume", "CSI spec: ControllerUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   Leaks,
}

var undone = &Invariant{
	Name:   Undone,
	Holds:  "whoever had something made has it taken away when nobody needs it any more",
	Reason: "under some faults real Kubernetes forgets what it asked for, and nobody else knows of it",
	Rules:  []string{"C-SNAP-30", "K-RECON"},
	Blame:  Kubernetes,
	Rank:   Leaks,
}

var askedAgain = &Invariant{
	Name:   AskedAgain,
	Holds:  "a call that fails is made again until it succeeds",
	Reason: "what it was to take away is there for ever, and no driver can help it",
	Rules:  []string{"C-GEN-6", "K-OP-3"},
	Blame:  Kubernetes,
	Rank:   Leaks,
}

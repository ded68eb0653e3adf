package invariant

import "strings"

var nothingLeaked = &Invariant{
	Name: "leaks", Holds: "what a driver was asked to take away is gone: mounts, files, devices, attachments, volumes with their content, snapshots, and what a program holds for them",
	Reason: "it costs money, and on nodes ends in one that takes no pods any more",
	Rules:  []string{"CSI spec: DeleteVolume", "CSI spec: ControllerUnpublishVolume", "CSI spec: NodeUnstageVolume"}, Blame: Driver, Rank: Leaks,
	breaks: func(verdict string) bool {
		return strings.HasPrefix(verdict, "left behind: ") || strings.HasPrefix(verdict, "DeleteVolume leaves data: ")
	},
}

var nothingUndone = &Invariant{
	Name: "undone", Holds: "whoever had something made has it taken away when nobody needs it any more",
	Reason: "under some faults real Kubernetes forgets what it asked for, and nobody else knows of it",
	Rules:  []string{"C-SNAP-30", "K-RECON"}, Blame: Kubernetes, Rank: Leaks,
	breaks: func(verdict string) bool {
		return strings.HasPrefix(verdict, "left behind: ") && strings.Contains(verdict, "which never came")
	},
}

// AskedAgain is the name of the invariant that who has failed tries again.
const AskedAgain = "asked-again"

var askedAgain = &Invariant{
	Name: AskedAgain, Holds: "a call that fails is made again until it succeeds",
	Reason: "what it was to take away is there for ever, and no driver can help it",
	Rules:  []string{"C-GEN-6", "K-OP-3"}, Blame: Kubernetes, Rank: Leaks,
	breaks: func(verdict string) bool {
		return strings.HasPrefix(verdict, "left behind: ") && strings.Contains(verdict, "which a fault answered: ")
	},
}

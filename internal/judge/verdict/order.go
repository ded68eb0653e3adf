package verdict

// The keys of calls in an order that Kubernetes rules out.
const (
	AttachedFirst    Key = "attached-first"
	StagedFirst      Key = "staged-first"
	UnpublishedFirst Key = "unpublished-first"
	UnstagedFirst    Key = "unstaged-first"
	DetachedFirst    Key = "detached-first"
)

var attachedFirst = &Invariant{
	Name:   AttachedFirst,
	Holds:  "a volume is staged and published on a node while it is attached there, if the driver attaches volumes",
	Reason: "there is no device, or that of another volume",
	Rules:  []string{"CSI spec: NodeStageVolume", "CSI spec: NodePublishVolume", "K-ATT-1", "K-ATT-7"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

var stagedFirst = &Invariant{
	Name:   StagedFirst,
	Holds:  "a volume is staged on a node while it is published there",
	Reason: "the empty directory below is published",
	Rules:  []string{"CSI spec: NodePublishVolume", "K-PUB-15", "K-OP-1"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

var unpublishedFirst = &Invariant{
	Name:   UnpublishedFirst,
	Holds:  "a volume is unstaged only when it is published nowhere on the node",
	Reason: "a pod loses the volume that it uses",
	Rules:  []string{"CSI spec: NodeUnstageVolume", "K-UNSTAGE-1", "K-REC-6"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

var unstagedFirst = &Invariant{
	Name:   UnstagedFirst,
	Holds:  "a volume is detached from a node only after it is unstaged there, unless by force",
	Reason: "the file system on it is cut off under its pods",
	Rules:  []string{"CSI spec: ControllerUnpublishVolume", "C-ADC-25", "C-OP-5"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

var detachedFirst = &Invariant{
	Name:   DetachedFirst,
	Holds:  "a volume is deleted only when it is attached and published nowhere",
	Reason: "a pod loses the volume that it uses",
	Rules:  []string{"CSI spec: DeleteVolume", "C-PROV-73", "C-PV-31"},
	Blame:  Kubernetes,
	Rank:   Breach,
}

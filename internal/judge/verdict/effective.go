package verdict

// Effective is the key of the invariant in this file.
const Effective Key = "effective"

var effective = &Invariant{
	Name:   Effective,
	Holds:  "mounts and files on the node agree with the driver's answers: a published volume is mounted, and an unpublished one is not",
	Reason: "a pod that writes to a plain directory loses its data, and a target that stays keeps the pod from ending",
	Rules:  []string{"CSI spec: NodePublishVolume", "CSI spec: NodeUnpublishVolume", "CSI spec: NodeStageVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   NoEffect,
}

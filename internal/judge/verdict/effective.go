package verdict

// Effective is the key of the invariant in this file.
const Effective Key = "effective"

var effective = &Invariant{
	Name:   Effective,
	Holds:  "mounts and files on the node are what the driver answered: what is published is mounted, what is unpublished is gone",
	Reason: "a pod that writes to a directory that is no mount loses what it wrote, and a target that stays keeps the pod from ending",
	Rules:  []string{"CSI spec: NodePublishVolume", "CSI spec: NodeUnpublishVolume", "CSI spec: NodeStageVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   NoEffect,
}

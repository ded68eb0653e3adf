package verdict

// ForeignMounts is the key of the invariant in this file.
const ForeignMounts Key = "foreign-mounts"

var foreignMounts = &Invariant{
	Name:   ForeignMounts,
	Holds:  "no driver unmounts what another one or the kubelet has mounted, nor, when it starts again, what it was not asked to, nor removes the kubelet's directories",
	Reason: "the pod that uses it writes beside its volume from then on",
	Rules:  []string{"CSI spec: NodeUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   NoEffect,
}

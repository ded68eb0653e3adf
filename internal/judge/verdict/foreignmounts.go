package verdict

// ForeignMounts is the key of the invariant in this file.
const ForeignMounts Key = "foreign-mounts"

var foreignMounts = &Invariant{
	Name:   ForeignMounts,
	Holds:  "no driver unmounts mounts of another driver or of the kubelet, nor any outside its calls after a restart, nor removes the kubelet's directories",
	Reason: "the pod that uses it writes beside its volume from then on",
	Rules:  []string{"CSI spec: NodeUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   NoEffect,
}

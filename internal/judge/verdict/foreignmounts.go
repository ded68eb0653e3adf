package verdict

// ForeignMounts is the key of the invariant in this file.
const ForeignMounts Key = "foreign-mounts"

var foreignMounts = &Invariant{
	Name:   ForeignMounts,
	Holds:  "no driver unmounts mounts of another driver or of the kubelet, unmounts anything outside its calls after a restart, or removes the kubelet's directories",
	Reason: "the pod that uses the mount then writes to another place than its volume",
	Rules:  []string{"CSI spec: NodeUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame:  Driver,
	Rank:   NoEffect,
}

package verdict

// Sizes is the key of the invariant in this file.
const Sizes Key = "sizes"

var sizes = &Invariant{
	Name:   Sizes,
	Holds:  "sizes and limits are kept: a volume, and a raw block device where it is published, has at least the required size and at most the limit, numbers are not negative",
	Reason: "a pod that was promised 10Gi runs full at 5Gi",
	Rules:  []string{"CSI spec: CapacityRange", "CSI spec: NodeExpandVolume", "CSI spec: NodeGetVolumeStats"},
	Blame:  Driver,
	Rank:   Breach,
}

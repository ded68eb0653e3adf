package invariant

var foreignMounts = &Invariant{
	Name: "foreign-mounts", Holds: "no driver unmounts what another one or the kubelet has mounted, nor, when it starts again, what it was not asked to, nor removes the kubelet's directories",
	Reason: "the pod that uses it writes beside its volume from then on", Rules: []string{"CSI spec: NodeUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame: Driver, Rank: NoEffect, breaks: func(verdict string) bool {
		return begins("foreign mount")(verdict) || has(" removes what the driver has not made: ")(verdict)
	},
}

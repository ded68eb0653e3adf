package invariant

var foreignMounts = &Invariant{
	Name: "foreign-mounts", Holds: "no driver unmounts what another one or the kubelet has mounted, nor, when it starts again, what it was not asked to",
	Reason: "the pod that uses it writes beside its volume from then on", Rules: []string{"CSI spec: NodeUnpublishVolume", "CSI spec: NodeUnstageVolume"},
	Blame: Driver, Rank: Spoils, breaks: begins("foreign mount"),
}

package verdict

// SingleWriter is the key of a volume that is attached to two nodes.
const SingleWriter Key = "single-writer"

var singleWriter = &Invariant{
	Name:   SingleWriter,
	Holds:  "a single-node volume is attached to one node at a time",
	Reason: "two nodes that both mount a file system of one destroy it. Kubernetes requests the second attachment when the state of the first node is uncertain (C-ADC-34), and expects the driver to reject it",
	Rules:  []string{"CSI spec: ControllerPublishVolume, FAILED_PRECONDITION", "C-ADC-34"},
	Blame:  Driver,
	Rank:   Breach,
}

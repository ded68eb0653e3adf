package verdict

// SingleWriter is the key of a volume that is attached to two nodes.
const SingleWriter Key = "single-writer"

var singleWriter = &Invariant{
	Name:   SingleWriter,
	Holds:  "a volume that one node alone may have is attached to one node at a time",
	Reason: "two nodes that both mount a file system of one destroy it. Kubernetes asks for it when it is not sure of the first node (C-ADC-34) and leaves it to the driver to refuse",
	Rules:  []string{"CSI spec: ControllerPublishVolume, FAILED_PRECONDITION", "C-ADC-34"},
	Blame:  Driver,
	Rank:   Breach,
}

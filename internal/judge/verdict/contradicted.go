package verdict

// Contradicted is the key of the invariant in this file.
const Contradicted Key = "contradicted"

var contradicted = &Invariant{
	Name:   Contradicted,
	Holds:  "a call that cannot be granted beside the one before is refused, and calls at the same time have the effect of one",
	Reason: "two callers that each believe a volume to be theirs destroy its content",
	Rules:  []string{"CSI spec: ControllerPublishVolume, FAILED_PRECONDITION", "CSI spec: NodePublishVolume, ALREADY_EXISTS", "CSI spec: ABORTED"},
	Blame:  Driver,
	Rank:   Breach,
}

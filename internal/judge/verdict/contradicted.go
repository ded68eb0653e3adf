package verdict

// Contradicted is the key of the invariant in this file.
const Contradicted Key = "contradicted"

var contradicted = &Invariant{
	Name:   Contradicted,
	Holds:  "a call that is incompatible with an earlier one is rejected, and simultaneous equal calls have the effect of one",
	Reason: "two callers that both use a volume as their own destroy its content",
	Rules:  []string{"CSI spec: ControllerPublishVolume, FAILED_PRECONDITION", "CSI spec: NodePublishVolume, ALREADY_EXISTS", "CSI spec: ABORTED"},
	Blame:  Driver,
	Rank:   Breach,
}

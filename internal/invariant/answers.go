package invariant

import "github.com/csisim/csisim/internal/world/lazyregexp"

// ofCall is a breach that is about a call: CreateVolumeResponse.volume is empty, NodeStageVolume fails for good.
var ofCall = lazyregexp.New(`^(Controller|Node|Create|Delete|List|Get|Validate|Probe|Modify)\w*(Request|Response)?[.\w\[\]"]* `)

var answers = &Invariant{
	Name: "answers", Holds: "answers have what the CSI spec wants, with its error codes, and nothing that was not promised; what the spec wants to be done is not refused for good",
	Reason: "callers act on codes: one that is wrong makes them give up, or repeat for ever", Rules: []string{"CSI spec: each call's section and errors"},
	Blame: Driver, Rank: Breach, breaks: matches(ofCall),
}

package verdict

// Handover is the key of the invariant in this file.
const Handover Key = "handover"

// handedOver is the form of a verdict on a volume that one side attached and the other side
// detaches.
const handedOver Form = "volume handed over"

// HandedOver returns the verdict on a volume that a driver attached and an in-tree plugin has to
// detach, or the reverse.
func HandedOver(node, detail string) Verdict {
	return Verdict{Breaks: Handover, Form: handedOver, Node: node, Found: []string{detail}}.Worded(
		Say("%s: %s", Kept(handedOver), Quoted(detail)))
}

var handover = &Invariant{
	Name:   Handover,
	Holds:  "the driver or in-tree plugin that attached a volume also detaches it",
	Reason: "otherwise it stays attached",
	Rules:  []string{"L-ADC-7"},
	Blame:  Scenario,
	Rank:   Spoils,
}

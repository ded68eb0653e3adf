package invariant

var handedOver = &Invariant{
	Name: "handover", Holds: "whoever attached a volume, a driver or an in-tree plugin, detaches it",
	Reason: "else it stays attached", Rules: []string{"L-ADC-7"}, Blame: Scenario, Rank: Spoils, breaks: begins("volume handed over"),
}

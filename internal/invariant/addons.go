package invariant

var addonsPromises = &Invariant{
	Name: "addons", Holds: "a driver keeps what it promises with CSI-Addons: who is demoted or fenced writes nothing, groups have their members, messages show no secret",
	Reason: "two sites that both write to one volume cannot be brought together again", Rules: []string{"docs/csi-addons.md: What drivers must keep to"},
	Blame: Driver, Rank: Breach,
	breaks: has(" lets a demoted volume be written: ", " serves a fenced node: ", " answers a group with other members: ", " is promised and not served: ",
		" reclaims space of a deleted volume: ", " makes a second primary: ", " shows a secret: "),
}

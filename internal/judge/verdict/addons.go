package verdict

// Addons is the key of the invariant in this file.
const Addons Key = "addons"

var addons = &Invariant{
	Name:   Addons,
	Holds:  "a driver keeps its promises in CSI-Addons: nothing is written to a demoted volume or from a fenced node, groups have their members, messages show no secret",
	Reason: "if two sites write to one volume, their contents cannot be merged",
	Rules:  []string{"docs/reference/csi-addons.md: What drivers must keep to"},
	Blame:  Driver,
	Rank:   Breach,
}

package invariant

import "github.com/csisim/csisim/internal/world/lazyregexp"

var ofSize = lazyregexp.New(`^\S*(capacity_bytes|limit_bytes|required_bytes|max_volumes_per_node|available|total|used)\S* `)

var sizes = &Invariant{
	Name: "sizes", Holds: "sizes and limits are kept: a volume has at least what is required and at most the limit, numbers are not negative",
	Reason: "a pod that was promised 10Gi runs full at 5Gi", Rules: []string{"CSI spec: CapacityRange", "CSI spec: NodeGetVolumeStats"},
	Blame: Driver, Rank: Breach, breaks: matches(ofSize),
}

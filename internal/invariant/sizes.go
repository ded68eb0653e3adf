package invariant

import (
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

var ofSize = lazyregexp.New(`^\S*(capacity_bytes|limit_bytes|required_bytes|max_volumes_per_node|available|total|used)\S* `)

// smallDevice is how a block device is reported that is smaller than its volume.
const smallDevice = " leaves a device too small: "

var sizes = &Invariant{
	Name: "sizes", Holds: "sizes and limits are kept: a volume, and a raw block device where it is published, has at least what is required and at most the limit, numbers are not negative",
	Reason: "a pod that was promised 10Gi runs full at 5Gi", Rules: []string{"CSI spec: CapacityRange", "CSI spec: NodeExpandVolume", "CSI spec: NodeGetVolumeStats"},
	Blame: Driver, Rank: Breach, breaks: func(verdict string) bool {
		return ofSize().MatchString(verdict) || strings.Contains(verdict, smallDevice)
	},
}

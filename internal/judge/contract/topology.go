package contract

import (
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

const maxTopologyName = 63 // limit for each of prefix, name and value

var (
	topologyName   = lazyregexp.New(`^[a-zA-Z0-9]([-_.a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	topologyPrefix = lazyregexp.New(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
)

// topology: CSI "CreateVolume", message Topology.
func (f *findings) topology(field string, t *csi.Topology) {
	const rule = "the CSI spec's rules for topology keys and values"
	field += ".segments"
	f.required(field, len(t.GetSegments()) > 0)
	f.keep(field, rule)
	lower := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(t.GetSegments())) {
		prefix, name, qualified := strings.Cut(key, "/")
		if !qualified {
			prefix, name = "", key
		}
		if len(name) > maxTopologyName || !topologyName().MatchString(name) {
			f.add(field, rule, "has the key %q, whose name is not valid", key)
		}
		if qualified && (len(prefix) > maxTopologyName || !topologyPrefix().MatchString(prefix) || !domainName(prefix)) {
			f.add(field, rule, "has the key %q, whose prefix is not valid", key)
		}
		if value := t.GetSegments()[key]; len(value) > maxTopologyName || !topologyName().MatchString(value) {
			f.add(field, rule, "has the value %q for the key %q", value, key)
		}
		if same, ok := lower[strings.ToLower(key)]; ok {
			f.add(field, rule, "has the keys %q and %q, which differ in case only", same, key)
		}
		lower[strings.ToLower(key)] = key
	}
}

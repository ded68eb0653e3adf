package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// remain is a directory of a pod that was deleted.
type remain struct {
	since, until time.Duration
	seen         []Place
	why          string
}

// remained records that a kubelet finds the directory of a deleted pod.
func (s *Story) remained(f *fact) {
	key := [2]string{f.node, cmp.Or(f.fields["podUID"], f.fields["pod"])}
	if key[1] == "" {
		return
	}
	r, known := s.remains[key]
	if !known {
		r = remain{since: f.at, seen: []Place{f.seen}}
	}
	r.until, r.why = f.at, cmp.Or(f.fields["error"], r.why)
	s.remains[key] = r
}

// The directory of a deleted pod has volumes, so the kubelet does not remove it.
var _ = register(remains, remark, func(s *Story) (found []Finding) {
	keys := slices.SortedFunc(maps.Keys(s.remains), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		r, node := s.remains[key], cmp.Or(key[0], "the node")
		found = append(found, Finding{
			Title:     fmt.Sprintf("The directory of the deleted pod %s stays %s: %s", key[1], onNode(node), cmp.Or(r.why, "it has volumes")),
			Component: "kubelet " + node, Certainty: Certain, Since: r.since, Until: r.until, Seen: r.seen, node: key[0], Cause: r.why,
			Advice: "look whether something is mounted below /var/lib/kubelet/pods/" + key[1] + " before you remove it by hand: findmnt",
		})
	}
	return found
})

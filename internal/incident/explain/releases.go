package explain

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/version"
)

// concerns maps operations that fail to the change of Kubernetes that concerns them. The change
// applies if the error has the part.
var concerns = []struct {
	rule, kind, part string
	change           version.Change
}{
	{"operation-fails", "resize", "", version.SmallerExpansion},
	{"operation-fails", "attach", "ResourceExhausted", version.MutableAllocatable},
	{"multi-attach", "", outOfService, version.OutOfService},
	{"claim-without-class", "", "", version.LateDefaultClass},
}

// outOfService is the taint of a node that is shut down.
const outOfService = "node.kubernetes.io/out-of-service"

// addReleases adds the change of a later release than that of the cluster to a finding. A cluster
// without known nodes has none.
func (s *Story) addReleases(f *Finding) {
	runs, ok := s.newestRelease()
	if !ok {
		return
	}
	for _, c := range concerns {
		if c.rule != f.Rule || c.kind != "" && (f.of == nil || f.of.Kind != c.kind) || !f.mentions(c.part) {
			continue
		}
		if change := c.change.Entry(); change.Since > runs {
			f.Releases = append(f.Releases, fmt.Sprintf("the nodes run Kubernetes %s. Since %s: %s Before: %s (%s)", runs, change.Since, change.After, change.Before, change.Source))
		}
	}
}

func (f *Finding) mentions(part string) bool {
	return strings.Contains(f.Title+" "+f.Cause+" "+f.Advice, part) || f.of != nil && f.of.Code == part
}

// newestRelease returns the newest release of the nodes' kubelets. The control plane of a cluster
// is at least as new.
func (s *Story) newestRelease() (newest version.Version, found bool) {
	for key, object := range s.objects { // in any order: the newest counts
		if _, isNode := cutPrefix(key, "nodes/"); !isNode {
			continue
		}
		if v, known := version.OfRelease(fields.Text(object, "status", "kubeletVersion")); known && v > newest {
			newest, found = v, true
		}
	}
	return newest, found
}

package explain

import (
	"fmt"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/version"
)

// outOfService is the taint of a node that is shut down.
const outOfService = "node.kubernetes.io/out-of-service"

// supposed is the oldest release that is assumed for a cluster with unknown nodes.
const supposed version.Version = 24

// releaseWords describes a change in a later release than the cluster's; "" if there is none.
func (s *Story) releaseWords(change version.Entry) string {
	runs, known := s.newestRelease()
	head := ""
	switch {
	case known && change.Since > runs:
		head = fmt.Sprintf("the nodes run Kubernetes %s.", runs)
	case !known && change.Since > supposed:
		head = "the logs do not show the release of the nodes."
	default:
		return ""
	}
	return fmt.Sprintf("%s Since %s: %s Before: %s (%s)  [%s]", head, change.Since, change.After, change.Before, change.Source, certaintyOf(known))
}

func certaintyOf(known bool) Certainty {
	if known {
		return Certain
	}
	return Unknown
}

// newestRelease returns the newest release of the nodes' kubelets. The control plane of a cluster
// is at least as new.
func (s *Story) newestRelease() (newest version.Version, found bool) {
	for key, object := range s.objects { // in any order: the newest one counts
		if _, isNode := cutPrefix(key, "nodes/"); !isNode {
			continue
		}
		if v, known := version.OfRelease(fields.Text(object, "status", "kubeletVersion")); known && v > newest {
			newest, found = v, true
		}
	}
	return newest, found
}
